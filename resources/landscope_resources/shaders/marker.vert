// A round marker: a square around a projected point.
in vec3 a_centre;

uniform mat4 u_matrix;
uniform vec2 u_viewport;
uniform vec4 u_eye;
uniform float u_lift;
uniform float u_radius;          // device pixels, of an ordinary marker
uniform float u_current_radius;
uniform int u_current;           // number of the highlighted marker, −1: none

out vec2 v_offset;               // device pixels from the centre
flat out float v_radius;
flat out float v_is_current;

void main() {
    vec2 corner = vec2(gl_VertexID % 2, gl_VertexID / 2) * 2.0 - 1.0;
    bool current = gl_InstanceID == u_current;
    v_is_current = current ? 1.0 : 0.0;
    v_radius = current ? u_current_radius : u_radius;
    v_offset = corner * (v_radius + 1.0);
    vec4 centre = u_matrix * vec4(a_centre, 1.0);
    vec3 towards = normalize(u_eye.xyz - a_centre * u_eye.w);
    vec4 near = u_matrix * vec4(a_centre + u_lift * towards, 1.0);
    if (centre.w < 1e-3 || near.w < 1e-3) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    gl_Position = vec4(centre.xy / centre.w + v_offset / u_viewport * 2.0, near.z / near.w, 1.0);
}
