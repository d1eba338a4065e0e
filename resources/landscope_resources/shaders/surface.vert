// A height field: the heights come from a texture (one float per vertex), everything else is static.
in vec4 a_grid;  // world x, world y, 1 / (world distance between the two neighbours) along x and y

uniform sampler2D u_heights;  // row i, column j
uniform ivec2 u_size;         // nx, ny
uniform vec2 u_height_map;    // world z = value * x + y
uniform vec2 u_clip;          // lowest and highest world z that is drawn
uniform float u_flatten;      // 1: everything lies on the plane world z = u_floor
uniform float u_floor;
uniform mat4 u_matrix;
uniform vec3 u_light;         // towards the lamp
uniform vec3 u_half;          // between the lamp and the eye

out float v_value;
out vec2 v_shade;             // cosines of the upper normal with the lamp and with the half vector

const float MISSING = 1e30;

float height(ivec2 at) {
    return texelFetch(u_heights, clamp(at.yx, ivec2(0), u_size.yx - 1), 0).r;
}

// The slope along one axis: central, one-sided beside a hole or a border.
float slope(float before, float here, float after, bool first, bool last, float per_reach) {
    bool no_before = first || before >= MISSING;
    bool no_after = last || after >= MISSING;
    if (no_before && no_after) return 0.0;
    if (no_before) return 2.0 * (after - here) * per_reach;
    if (no_after) return 2.0 * (here - before) * per_reach;
    return (after - before) * per_reach;
}

void main() {
    ivec2 at = ivec2(gl_VertexID / u_size.y, gl_VertexID % u_size.y);
    float here = height(at);
    float x = slope(height(at - ivec2(1, 0)), here, height(at + ivec2(1, 0)),
                    at.x == 0, at.x == u_size.x - 1, a_grid.z);
    float y = slope(height(at - ivec2(0, 1)), here, height(at + ivec2(0, 1)),
                    at.y == 0, at.y == u_size.y - 1, a_grid.w);
    float z = here * u_height_map.x + u_height_map.y;
    v_value = here;
    vec3 normal = normalize(vec3(-vec2(x, y) * u_height_map.x, 1.0));
    // Shaded per vertex: small triangles make pixels dear on a software driver, and the eye sees no difference.
    v_shade = vec2(dot(normal, u_light), dot(normal, u_half));
    gl_Position = u_matrix * vec4(a_grid.xy, mix(z, u_floor, u_flatten), 1.0);
    gl_ClipDistance[0] = z - u_clip.x;
    gl_ClipDistance[1] = u_clip.y - z;
}
