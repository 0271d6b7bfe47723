"""Formulas as MathML, made when the book is built: pages need no script for them."""

from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert

UPRIGHT = "ΓΔΘΛΞΠΣΥΦΨΩ∞…"  # capital Greek stands upright in TeX; the others are no operators
BARS = "|‖"
BEFORE_SIGN = "([{⌊,;=<>≤≥≈∈+−·×/⇒→"  # a minus after one of these is a sign


def tidy(element, display):
    """Space and shape an element's children as TeX does, where the converter's MathML differs."""
    opened = set()
    before = None
    for index, child in reversed(list(enumerate(element))):
        name = child.text or ""
        if child.tag in ("mi", "mo") and (name in UPRIGHT if len(name) == 1 else name.isalpha()):
            child.tag = "mi"
            if len(name) == 1:
                child.set("mathvariant", "normal")
            elif element.tag in ("mrow", "mtd"):  # the name of a function: a thin space around
                beside = [(index + 1, element[index + 1 : index + 2])]
                beside += [(index, element[:index][-1:])]
                for place, neighbour in beside:
                    if neighbour and neighbour[0].tag not in ("mo", "mspace"):
                        element.insert(place, ElementTree.Element("mspace", width="0.167em"))
        if display == "block" and child.tag == "msub" and child[0].text in ("min", "max"):
            child.tag = "munder"
    for child in element:
        name = child.text or ""
        if child.tag == "mo" and name in BARS and "fence" not in child.attrib:
            child.attrib |= {"form": "postfix" if name in opened else "prefix", "stretchy": "false"}
            opened ^= {name}
        elif child.tag == "mo" and name == "/":
            child.attrib |= {"lspace": "0", "rspace": "0"}
        elif child.tag == "mo" and name == "−" and (before is None or before in BEFORE_SIGN):
            child.attrib |= {"form": "prefix"}
        before = name if child.tag == "mo" else "x"
        tidy(child, display)


def mathml(tex, display):
    """Return a formula as a ``<math>`` element whose ``alttext`` keeps the TeX source."""
    element = ElementTree.fromstring(convert(tex, xmlns="", display=display))
    element.set("alttext", " ".join(tex.split()))
    tidy(element, display)
    return ElementTree.tostring(element, encoding="unicode")


def visit_inline(translator, node):
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(translator, node):
    formula = mathml(node.astext(), "block")
    # Wide formulas scroll inside themselves, like tables: by the theme's class for those, whose
    # script lets the keyboard reach the ones that have something to scroll.
    translator.body.append(f'<div class="math pst-scrollable-table-container">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
