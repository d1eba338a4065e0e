// The contour lines alone, in the colours of their heights, for the projection onto the floor.
in float v_value;

uniform sampler2D u_colours;
uniform vec2 u_colour_map;
uniform vec2 u_contours;
uniform float u_pixel;
uniform float u_fill;          // opacity of the faint fill between the lines

out vec4 o_colour;

void main() {
    float place = clamp(v_value * u_colour_map.x + u_colour_map.y, 0.0, 1.0);
    vec3 colour = texelFetch(u_colours, ivec2(int(place * 1023.0 + 0.5), 0), 0).rgb;
    float index = v_value * u_contours.x + u_contours.y;
    float per_pixel = max(fwidth(index), 1e-7);
    float away = abs(index - floor(index + 0.5)) / per_pixel;
    float line = clamp(u_pixel * 0.6 + 0.5 - away, 0.0, 1.0);
    line *= 1.0 - smoothstep(0.16, 0.42, per_pixel * u_pixel);
    float opacity = max(u_fill, 0.85 * line * step(1e-9, u_contours.x));
    o_colour = vec4(colour * opacity, opacity);
}
