//! Pictures as PNG, where this machine has a font for their words; the same as SVG.

use crate::common::{Bench, answer};
use resvg::tiny_skia::Pixmap;

const GRID: &str = "grid banana --rows 80 -k 3 -c 1,16 -g 0.5,2 -q";
const NO_FONT: &str = "a PNG needs a font for its words, and this machine has none";

/// A number from the first tag of an SVG.
fn size(svg: &str, side: &str) -> u32 {
    let after = svg.split(&format!("{side}=\"")).nth(1).expect("a size");
    after.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn a_png_shows_what_the_svg_does() {
    let bench = Bench::new();
    assert_eq!(bench.run(&format!("{GRID} --plot cells.svg")).code, 0);
    let said = bench.run(&format!("{GRID} --plot cells.PNG"));
    if said.code != 0 {
        // A machine without any font.
        assert!(said.err.contains(NO_FONT), "{}", said.err);
        return;
    }
    let svg = bench.read("cells.svg");
    let bytes = std::fs::read(bench.path("cells.PNG")).expect("a picture");
    let picture = Pixmap::decode_png(&bytes).expect("a PNG");
    assert_eq!((picture.width(), picture.height()), (2 * size(&svg, "width"), 2 * size(&svg, "height")));
    let points = |from: u32, to: u32| picture.pixels()[(from * picture.width()) as usize..(to * picture.width()) as usize].iter();
    let dark = points(0, 100).filter(|at| at.alpha() == 255 && at.red() < 80 && at.green() < 80).count();
    assert!(dark > 500, "the title and the best are written there: {dark}");
    let frame = points(0, picture.height()).filter(|at| (at.red(), at.green(), at.blue()) == (0xe4, 0, 0x2b)).count();
    assert!(frame > 500, "the best is framed: {frame}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_machine_without_fonts_says_so_before_the_work() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("none")).expect("a folder");
    let fonts = format!("<fontconfig><dir>{}</dir></fontconfig>", bench.path("none").display());
    let fonts = bench.file("fonts.conf", fonts);
    let said = answer(bench.command(&format!("{GRID} --plot cells.png --csv cells.csv")).env("FONTCONFIG_FILE", &fonts));
    assert_eq!(said.code, 1);
    assert_eq!(said.err, format!("error: cells.png: {NO_FONT}; install one (fonts-dejavu) or name a file that ends in .svg\n"));
    assert!(!bench.path("cells.csv").exists() && !bench.path("cells.png").exists());
}
