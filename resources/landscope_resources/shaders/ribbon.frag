// Distance to the segment gives the core, the halo and smooth borders; each pixel belongs to one segment only,
// so that a translucent line does not show its joints.
flat in vec2 v_before;
flat in vec2 v_start;
flat in vec2 v_end;
flat in vec2 v_after;

uniform float u_core;      // half widths in device pixels
uniform float u_halo;
uniform vec4 u_core_colour;   // not premultiplied
uniform vec4 u_halo_colour;
uniform float u_opacity;

out vec4 o_colour;

float to_segment(vec2 at, vec2 from, vec2 to) {
    vec2 along = to - from;
    float share = clamp(dot(at - from, along) / max(dot(along, along), 1e-9), 0.0, 1.0);
    return length(at - from - along * share);
}

void main() {
    vec2 at = gl_FragCoord.xy;
    float away = to_segment(at, v_start, v_end);
    if (v_before != v_start && to_segment(at, v_before, v_start) < away - 0.01) discard;
    if (v_after != v_end && to_segment(at, v_end, v_after) <= away + 0.01) discard;
    float core = clamp(u_core + 0.5 - away, 0.0, 1.0);
    float halo = clamp(u_halo + 0.5 - away, 0.0, 1.0);
    vec4 under = vec4(u_halo_colour.rgb, 1.0) * (u_halo_colour.a * halo);
    vec4 over = vec4(u_core_colour.rgb, 1.0) * (u_core_colour.a * core);
    vec4 both = over + under * (1.0 - over.a);
    if (both.a <= 0.0) discard;
    o_colour = both * u_opacity;
}
