// Plain faces of the box.
in vec3 a_point;
uniform mat4 u_matrix;

void main() {
    gl_Position = u_matrix * vec4(a_point, 1.0);
}
