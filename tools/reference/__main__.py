"""`make reference`: write the generated parts of the reference pages."""

from tools.reference.pages import DOCS, GENERATORS, replaced

for name, generate in GENERATORS.items():
    page = DOCS / name
    page.write_text(replaced(page.read_text(encoding="utf-8"), generate()), encoding="utf-8")
