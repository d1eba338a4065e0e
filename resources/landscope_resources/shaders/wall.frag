uniform vec4 u_colour;
out vec4 o_colour;

void main() {
    o_colour = vec4(u_colour.rgb * u_colour.a, u_colour.a);
}
