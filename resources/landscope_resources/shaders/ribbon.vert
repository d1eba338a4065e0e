// One segment of a line as a screen-space rectangle with room for round ends.
in vec3 a_before;
in vec3 a_start;
in vec3 a_end;
in vec3 a_after;

uniform mat4 u_matrix;
uniform vec2 u_viewport;   // device pixels
uniform float u_reach;     // half width of the rectangle in device pixels
uniform vec4 u_eye;        // xyz, w = 1: the eye; w = 0: the direction towards it
uniform float u_lift;      // world units by which the depth is moved towards the eye

flat out vec2 v_before;
flat out vec2 v_start;
flat out vec2 v_end;
flat out vec2 v_after;

const float NEAR = 1e-3;

vec2 pixel(vec4 clip) {
    return (clip.xy / max(clip.w, NEAR) * 0.5 + 0.5) * u_viewport;
}

float lifted_depth(vec3 point) {
    vec3 towards = normalize(u_eye.xyz - point * u_eye.w);
    vec4 clip = u_matrix * vec4(point + u_lift * towards, 1.0);
    return clip.z / max(clip.w, NEAR);
}

void main() {
    bool at_end = gl_VertexID >= 2;
    float side = (gl_VertexID % 2 == 0) ? -1.0 : 1.0;
    vec3 start = a_start, end = a_end;
    float w0 = (u_matrix * vec4(start, 1.0)).w, w1 = (u_matrix * vec4(end, 1.0)).w;
    if (w0 < NEAR && w1 < NEAR) {
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        v_before = v_start = v_end = v_after = vec2(0.0);
        return;
    }
    // Cut at the eye's plane what runs behind it; w is linear along the segment.
    if (w0 < NEAR) start = mix(start, end, (NEAR - w0) / (w1 - w0));
    if (w1 < NEAR) end = mix(end, start, (NEAR - w1) / (w0 - w1));
    v_start = pixel(u_matrix * vec4(start, 1.0));
    v_end = pixel(u_matrix * vec4(end, 1.0));
    v_before = pixel(u_matrix * vec4(a_before, 1.0));
    v_after = pixel(u_matrix * vec4(a_after, 1.0));
    vec2 along = v_end - v_start;
    float length_ = length(along);
    along = length_ > 1e-6 ? along / length_ : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);
    vec2 corner = (at_end ? v_end + along * u_reach : v_start - along * u_reach) + across * side * u_reach;
    float depth = lifted_depth(at_end ? end : start);
    gl_Position = vec4(corner / u_viewport * 2.0 - 1.0, depth, 1.0);
}
