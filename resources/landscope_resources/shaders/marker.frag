// A disc with a rim; the current one has a ring in the accent colour around it.
in vec2 v_offset;
flat in float v_radius;
flat in float v_is_current;

uniform vec4 u_fill_colour;
uniform vec4 u_rim_colour;
uniform vec4 u_accent_colour;
uniform float u_rim;             // width of the rim in device pixels
uniform float u_opacity;

out vec4 o_colour;

float disc(float away, float radius) {
    return clamp(radius + 0.5 - away, 0.0, 1.0);
}

void main() {
    float away = length(v_offset);
    float shape = disc(away, v_radius);
    if (shape <= 0.0) discard;
    vec3 colour = mix(u_rim_colour.rgb, u_fill_colour.rgb, disc(away, v_radius - u_rim));
    if (v_is_current > 0.5) {
        colour = mix(u_rim_colour.rgb, u_fill_colour.rgb, disc(away, v_radius - u_rim));
        colour = mix(colour, u_accent_colour.rgb, disc(away, v_radius - 2.2 * u_rim));
    }
    o_colour = vec4(colour, 1.0) * (shape * u_opacity);
}
