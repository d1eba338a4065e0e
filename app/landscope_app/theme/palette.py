"""The theme as a Qt palette and a style sheet: Fusion underneath, so that every platform looks the same."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from landscope_app.theme.colors import THEMES, Theme
from landscope_app.theme.fonts import family

_ROLES = {
    QPalette.ColorRole.Window: "background",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "panel",
    QPalette.ColorRole.AlternateBase: "raised",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "error",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "accent_text",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.Light: "border",
    QPalette.ColorRole.Midlight: "border",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border",
    QPalette.ColorRole.Shadow: "background",
    QPalette.ColorRole.Accent: "accent",
}
_DIMMED = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
    QPalette.ColorRole.HighlightedText,
)


def system_theme() -> Theme:
    """The look the desktop asks for; dark where it says nothing."""
    scheme = QGuiApplication.styleHints().colorScheme()
    return THEMES["light" if scheme == Qt.ColorScheme.Light else "dark"]


def palette(theme: Theme) -> QPalette:
    """Every role of the palette in the colours of the theme."""
    made = QPalette()
    for role, name in _ROLES.items():
        made.setColor(role, QColor(getattr(theme, name)))
    for role in _DIMMED:
        made.setColor(QPalette.ColorGroup.Disabled, role, mix(theme.muted, theme.panel, 0.35))
    made.setColor(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Highlight, QColor(theme.border))
    return made


def mix(one: str, other: str, share: float) -> QColor:
    """``one`` with a ``share`` in [0, 1] of ``other``."""
    a, b = QColor(one), QColor(other)
    keep = 1 - share
    return QColor(
        round(a.red() * keep + b.red() * share),
        round(a.green() * keep + b.green() * share),
        round(a.blue() * keep + b.blue() * share),
    )


def use(theme: Theme, choice: str = "system") -> None:
    """Dress the whole application. ``choice`` is what the person picked: dark, light or system."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    schemes = {"dark": Qt.ColorScheme.Dark, "light": Qt.ColorScheme.Light}
    QGuiApplication.styleHints().setColorScheme(schemes.get(choice, Qt.ColorScheme.Unknown))
    app.setPalette(palette(theme))
    font = QFont(family(theme.font))
    font.setPixelSize(theme.size)
    app.setFont(font)
    app.setStyleSheet(style_sheet(theme))


def style_sheet(theme: Theme) -> str:
    """Rounded, flat controls with a visible focus; all colours and sizes come from the theme."""
    hover = mix(theme.raised, theme.text, 0.08).name()
    pressed = mix(theme.raised, theme.text, 0.16).name()
    strong = mix(theme.accent, theme.text, 0.12).name()
    names = {name: getattr(theme, name) for name in theme.__dataclass_fields__}
    return _SHEET.format(**names, hover=hover, pressed=pressed, strong=strong, mono_family=family(theme.mono))


_SHEET = """
QMainWindow::separator {{ background: {background}; width: 6px; height: 6px; }}
QMainWindow::separator:hover {{ background: {border}; }}
QToolTip {{ background: {raised}; color: {text}; border: 1px solid {border}; padding: 4px 6px; }}
QMenuBar {{ background: {background}; padding: 2px 4px; }}
QMenuBar::item {{ padding: 4px 9px; border-radius: 5px; background: transparent; }}
QMenuBar::item:selected {{ background: {raised}; }}
QMenu {{ background: {panel}; border: 1px solid {border}; padding: 5px; }}
QMenu::item {{ padding: 5px 26px 5px 24px; border-radius: 4px; }}
QMenu::item:selected {{ background: {accent}; color: {accent_text}; }}
QMenu::item:disabled {{ color: {muted}; background: transparent; }}
QMenu::separator {{ height: 1px; background: {border}; margin: 5px 8px; }}
QToolBar {{ background: {background}; border: none; spacing: 4px; padding: 4px 8px; }}
QToolBar::separator {{ background: {border}; width: 1px; margin: 5px 6px; }}
QStatusBar {{ background: {background}; color: {muted}; }}
QStatusBar::item {{ border: none; }}
QDockWidget {{ font-weight: 600; color: {muted}; }}
QDockWidget::title {{ background: {background}; padding: 6px 8px; text-align: left; }}
QPushButton, QToolButton {{
  background: {raised}; color: {text}; border: 1px solid {border}; border-radius: 6px; padding: 5px 11px; }}
QToolButton {{ padding: 4px 8px; }}
QPushButton:hover, QToolButton:hover {{ background: {hover}; }}
QPushButton:pressed, QToolButton:pressed,
QToolButton:checked, QPushButton:checked {{ background: {pressed}; }}
QPushButton:focus, QToolButton:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus,
QLineEdit:focus {{ border: 1px solid {accent}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {muted}; background: {background}; }}
QPushButton[primary="true"] {{
  background: {accent}; color: {accent_text}; border: 1px solid {accent}; font-weight: 600; }}
QPushButton[primary="true"]:hover {{ background: {strong}; border-color: {strong}; }}
QPushButton[primary="true"]:focus {{ border: 2px solid {text}; padding: 4px 10px; }}
QPushButton[primary="true"]:disabled {{
  background: {raised}; color: {muted}; border-color: {border}; }}
QPushButton[segment="true"] {{ border-radius: 0px; border-left-width: 0px; padding: 5px 12px; }}
QPushButton[segment="first"] {{
  border-top-right-radius: 0px; border-bottom-right-radius: 0px; padding: 5px 12px; }}
QPushButton[segment="last"] {{
  border-top-left-radius: 0px; border-bottom-left-radius: 0px; border-left-width: 0px; padding: 5px 12px; }}
QPushButton[segment]:checked {{ background: {accent}; color: {accent_text}; border-color: {accent}; }}
QPushButton[link="true"], QToolButton[link="true"] {{
  background: transparent; border: 1px solid transparent; color: {accent}; padding: 3px 6px; }}
QPushButton[link="true"]:hover, QToolButton[link="true"]:hover {{ background: {raised}; }}
QPushButton[link="true"]:focus, QToolButton[link="true"]:focus {{ border: 1px solid {accent}; }}
QToolBar QToolButton {{ background: transparent; border: 1px solid transparent; }}
QToolBar QToolButton:hover {{ background: {raised}; }}
QToolBar QToolButton:checked {{ background: {pressed}; }}
QToolBar QToolButton:focus {{ border: 1px solid {accent}; }}
QComboBox, QSpinBox, QDoubleSpinBox, QLineEdit {{
  background: {raised}; color: {text}; border: 1px solid {border}; border-radius: 6px;
  padding: 4px 7px; selection-background-color: {accent}; selection-color: {accent_text}; }}
QComboBox:hover {{ background: {hover}; }}
QComboBox::drop-down {{ border: none; width: 20px; }}
QComboBox::down-arrow {{
  image: none; width: 0px; height: 0px; border-left: 4px solid {raised}; border-right: 4px solid {raised};
  border-top: 5px solid {muted}; margin-right: 5px; }}
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{
  width: 0px; height: 0px; border: none; subcontrol-origin: content; }}
QAbstractSpinBox::up-button {{ subcontrol-position: right; }}
QAbstractSpinBox::down-button {{ subcontrol-position: left; }}
QCheckBox::indicator {{
  width: 13px; height: 13px; border: 1px solid {muted}; border-radius: 3px; background: {panel}; }}
QCheckBox::indicator:checked {{ background: {accent}; border: 1px solid {accent}; }}
QCheckBox::indicator:checked:disabled {{ background: {muted}; }}
QCheckBox:focus {{ color: {accent}; }}
QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled {{ color: {muted}; background: {background}; }}
QComboBox QAbstractItemView {{
  background: {panel}; border: 1px solid {border}; padding: 3px; outline: none;
  selection-background-color: {accent}; selection-color: {accent_text}; }}
QTreeView, QListView, QTableView, QPlainTextEdit, QTextEdit {{
  background: {panel}; border: 1px solid {border}; border-radius: 8px; outline: none; }}
QTreeView:focus, QListView:focus, QTableView:focus, QPlainTextEdit:focus {{ border: 1px solid {accent}; }}
QTreeView::item, QListView::item {{ padding: 3px 2px; }}
QHeaderView::section {{
  background: {panel}; color: {muted}; border: none; border-bottom: 1px solid {border}; padding: 5px 6px; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
QProgressBar {{ background: {track}; border: none; border-radius: 3px; max-height: 6px; min-height: 6px; }}
QProgressBar::chunk {{ background: {accent}; border-radius: 3px; }}
QTabBar::tab {{ background: transparent; color: {muted}; padding: 5px 10px; border-radius: 5px; }}
QTabBar::tab:selected {{ color: {text}; background: {raised}; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle {{ background: {border}; border-radius: 3px; min-height: 24px; min-width: 24px; }}
QScrollBar::handle:hover {{ background: {muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QLabel[muted="true"] {{ color: {muted}; }}
QLabel[small="true"] {{ font-size: {small}px; }}
QLabel[title="true"] {{ font-size: 26px; font-weight: 700; }}
QLabel[heading="true"] {{ font-size: 15px; font-weight: 600; }}
QLabel[level="error"] {{ color: {error}; }}
QLabel[level="warning"] {{ color: {warning}; }}
QPlainTextEdit[mono="true"] {{ font-family: "{mono_family}"; font-size: 12px; }}
QFrame[card="true"] {{ background: {panel}; border: 1px solid {border}; border-radius: 10px; }}
QFrame[card="drop"] {{ background: {panel}; border: 2px dashed {border}; border-radius: 12px; }}
QFrame[card="drop-hot"] {{ background: {raised}; border: 2px dashed {accent}; border-radius: 12px; }}
QFrame[card="error"] {{ background: {panel}; border: 1px solid {error}; border-radius: 8px; }}
QFrame[card="warning"] {{ background: {panel}; border: 1px solid {warning}; border-radius: 8px; }}
QFrame[card="info"] {{ background: {panel}; border: 1px solid {accent}; border-radius: 8px; }}
"""
