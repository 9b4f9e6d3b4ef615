# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawing of panels without a window: a layout that records texts, and checks names of properties and operators."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy


class Settings(SimpleNamespace):
    """The settings of an operator's button. Numbers must fit Blender's, of 32 bits."""

    def __setattr__(self, name: str, value: Any) -> None:
        assert not isinstance(value, int) or -2 ** 31 <= value < 2 ** 31, (name, value)
        super().__setattr__(name, value)


class Layout:
    """A stand-in for `bpy.types.UILayout`.

    Attributes:
        texts: texts of all labels and buttons.
        labels: texts of all labels, each with whether an icon stands before it.
        operators: identifiers of all operators.
        props: names of all properties.
        greyed: names of the properties and operators that are drawn without effect.
        pale: texts of the labels that are drawn greyed.
        dotted: names of the properties with a dot behind them, by which they are keyed.
        active, enabled: whether what is drawn in it has an effect, if it has one in the layout around it.
    """

    def __init__(self, root: Layout | None = None) -> None:
        for name in ("texts", "labels", "operators", "props", "greyed", "pale", "dotted"):
            setattr(self, name, [] if root is None else getattr(root, name))
        self.active = self.enabled = True
        self.use_property_split = root is not None and root.use_property_split
        self.use_property_decorate = root is None or root.use_property_decorate
        self._root = root

    @property
    def _has_effect(self) -> bool:
        return self.active and self.enabled and (self._root is None or self._root._has_effect)

    def _part(self, *_: Any, heading: str = "", **__: Any) -> Layout:
        self.texts.append(heading)
        return Layout(self)

    row = column = box = split = grid_flow = _part

    def label(self, *, text: str = "", icon: str = "NONE", icon_value: int = 0) -> None:
        """Record the text; the icon must exist."""
        assert icon_value >= 0
        icons = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
        assert isinstance(text, str) and icon in icons
        self.texts.append(text)
        self.labels.append((text, icon != "NONE" or bool(icon_value)))
        if not self._has_effect:
            self.pale.append(text)

    def prop(self, data: Any, name: str, **options: Any) -> None:
        """Read the property, as Blender does."""
        assert name in data.bl_rna.properties, name
        getattr(data, name)
        self.props.append(name)
        if not self._has_effect:
            self.greyed.append(name)
        if self.use_property_split and self.use_property_decorate and options.get("text") != "":
            self.dotted.append(name)
        self.texts.append(options.get("text", data.bl_rna.properties[name].name))

    def prop_decorator(self, data: Any, name: str) -> None:
        """Record the dot."""
        assert name in data.bl_rna.properties, name
        self.dotted.append(name)

    def prop_search(self, data: Any, name: str, search: Any, collection: str, **options: Any) -> None:
        """Read the property and the collection."""
        getattr(search, collection)
        self.prop(data, name, **options)

    def prop_enum(self, data: Any, name: str, value: str, **_: Any) -> None:
        """Record an item of an enum."""
        self.texts.append(bpy.types.UILayout.enum_item_name(data, name, value))
        assert self.texts[-1], value

    def operator(self, name: str, *, text: str | None = None, icon: str = "NONE") -> Any:
        """Record the operator, and call its poll function."""
        group, _, function = name.partition(".")
        found = getattr(getattr(bpy.ops, group), function)
        found.poll()
        self.operators.append(name)
        if not self._has_effect:
            self.greyed.append(name)
        self.texts.append(found.get_rna_type().name if text is None else text)
        return Settings()

    def operator_menu_enum(self, name: str, _prop: str, **options: Any) -> None:
        """Record the operator."""
        self.operator(name, text=options.get("text"), icon=options.get("icon", "NONE"))

    def menu(self, name: str, *, text: str = "", **_: Any) -> None:
        """Draw the menu, too."""
        self.texts.append(text)
        draw(getattr(bpy.types, name), Layout(self))

    def popover(self, panel: str, *, text: str = "") -> None:
        """Draw the panel, too."""
        self.menu(panel, text=text)

    def progress(self, *, factor: float, text: str, **_: Any) -> None:
        """Record the text."""
        assert 0.0 <= factor <= 1.0
        self.texts.append(text)

    def template_icon(self, *, icon_value: int, scale: float) -> None:
        """Record that a picture is drawn."""
        assert icon_value >= 0 and scale > 0.0
        self.texts.append("a picture")

    def separator(self, **_: Any) -> None:
        """Draw nothing."""


def draw(cls: Any, layout: Layout, width: int = 300) -> None:
    """Draw a panel or menu with the current object, if its poll function allows it."""
    context = SimpleNamespace(**{name: getattr(bpy.context, name) for name in (
        "object", "scene", "view_layer", "window_manager", "preferences", "mode")}, region=SimpleNamespace(width=width))
    if hasattr(cls, "poll") and not cls.poll(context):
        return
    own = [base for base in reversed(cls.__mro__) if not base.__module__.startswith(("builtins", "bpy"))]
    own = [base for base in own if base.__name__ not in ("bpy_struct", "Panel", "Menu")]
    functions = {name: value for base in own for name, value in vars(base).items() if callable(value)}
    stand_in = type(cls.__name__, (), {**functions, "layout": layout, "dots": getattr(cls, "dots", True)})()
    if "draw_header" in functions:
        stand_in.draw_header(context)
    stand_in.draw(context)


def draw_all(extension: Any, obj: Any, width: int = 300) -> Layout:
    """Draw all panels of Muslin for an object, and return what was drawn."""
    bpy.context.view_layer.objects.active = obj
    layout = Layout()
    for cls in (*extension.panels.classes, *extension.compare_panel.classes):
        if issubclass(cls, bpy.types.Panel):
            draw(cls, layout, width)
    return layout
