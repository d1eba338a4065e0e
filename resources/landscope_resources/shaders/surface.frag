// Colour by height, a soft light on both sides, and contour lines of even width.
in float v_value;
in vec2 v_shade;

uniform sampler2D u_colours;   // 1024 × 1
uniform vec2 u_colour_map;     // position in the colour map = value * x + y
uniform vec2 u_contours;       // contour index = value * x + y; x = 0: none
uniform float u_pixel;         // device pixels per logical pixel

out vec4 o_colour;

void main() {
    float place = clamp(v_value * u_colour_map.x + u_colour_map.y, 0.0, 1.0);
    vec3 colour = texelFetch(u_colours, ivec2(int(place * 1023.0 + 0.5), 0), 0).rgb;

    float side = gl_FrontFacing ? 1.0 : -1.0;
    float wrapped = 0.5 + 0.5 * side * v_shade.x;
    float shine = max(side * v_shade.y, 0.0);
    shine *= shine; shine *= shine; shine *= shine; shine *= shine;
    vec3 below = mix(colour, vec3(dot(colour, vec3(0.3, 0.6, 0.1))), 0.30) * 0.84;
    vec3 lit = side > 0.0 ? colour * (0.44 + 0.64 * wrapped * wrapped) + vec3(0.07 * shine)
                          : below * (0.62 + 0.40 * wrapped);

    if (u_contours.x > 0.0) {
        float index = v_value * u_contours.x + u_contours.y;
        float per_pixel = max(fwidth(index), 1e-7);
        float nearest = floor(index + 0.5);
        float away = abs(index - nearest) / per_pixel;
        bool major = abs(nearest - 5.0 * floor(nearest / 5.0 + 0.5)) < 0.5;
        float width = u_pixel * (major ? 0.75 : 0.5);
        float line = clamp(width + 0.5 - away, 0.0, 1.0);
        // Lines closer than a few pixels would turn into a grey wash.
        line *= 1.0 - smoothstep(0.16, 0.42, per_pixel * u_pixel);
        lit *= 1.0 - line * (major ? 0.58 : 0.38);
    }
    o_colour = vec4(lit, 1.0);
}
