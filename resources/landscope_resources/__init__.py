"""Icons, fonts, themes, shaders and the sample project of Landscope."""
