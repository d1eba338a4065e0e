"""The application and the widgets of these tests."""

from qt_application import application, keep

__all__ = ["application", "keep"]
