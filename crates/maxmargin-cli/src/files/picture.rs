//! Picture files: SVG, or PNG rendered from it if the name ends in `.png`.

use crate::console::failure::Failure;
use crate::files::output::Output;
use crate::files::output_paths::{Content, OutputPaths};
use maxmargin_plot::Svg;
use std::path::Path;

/// The output of a picture, opened before the work begins together with the fonts.
#[derive(Debug)]
pub(crate) struct Picture {
    output: Output,
    painter: Option<Painter>,
}

impl Picture {
    pub(crate) fn open(path: &Path, paths: &mut OutputPaths) -> Result<Self, Failure> {
        let pixels = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
        let output = paths.output(path, Content::Text)?;
        let painter = pixels.then(|| Painter::new(output.name())).transpose()?;
        Ok(Self { output, painter })
    }

    /// Writes the picture.
    pub(crate) fn write(self, picture: &Svg) -> Result<(), Failure> {
        let svg = picture.document();
        let bytes = match self.painter {
            Some(painter) => painter.paint(svg.as_bytes())?,
            None => svg.into_bytes(),
        };
        self.output.write(|out| out.write_all(&bytes))
    }
}

#[cfg(feature = "png")]
pub(super) use painting::Painter;

#[cfg(feature = "png")]
mod painting {
    use super::Failure;
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::fontdb::{Database, Family, Query};
    use resvg::usvg::{Options, Tree};

    /// PNG pixels per SVG pixel in each direction, for sharp letters on screens and in print.
    const FINE: f32 = 2.0;

    /// Font families to try if the system has no default sans-serif family.
    const FAMILIES: [&str; 8] =
        ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica", "FreeSans", "Nimbus Sans", "Ubuntu"];

    /// Renders SVG as PNG with the fonts of this machine.
    #[derive(Debug)]
    pub(crate) struct Painter {
        options: Options<'static>,
        name: String,
    }

    impl Painter {
        /// A renderer for the file `name`. Fails without fonts, because a picture without text
        /// would be useless.
        pub(super) fn new(name: &str) -> Result<Self, Failure> {
            let mut options = Options::default();
            let letters = options.fontdb_mut();
            letters.load_system_fonts();
            let family = sans_serif(letters).ok_or_else(|| {
                let what = "a PNG needs a font for its words, and this machine has none; install one (fonts-dejavu) or name a file that ends in .svg";
                Failure::input(name, what)
            })?;
            letters.set_sans_serif_family(family);
            Ok(Self { options, name: name.to_owned() })
        }

        /// Returns the bytes of the PNG.
        pub(super) fn paint(&self, svg: &[u8]) -> Result<Vec<u8>, Failure> {
            let failed = |what: String| {
                Failure::input(&self.name, format!("cannot paint the picture: {what}; name a file that ends in .svg"))
            };
            let tree = Tree::from_data(svg, &self.options).map_err(|error| failed(error.to_string()))?;
            let size = tree.size().to_int_size().scale_by(FINE);
            let pixels = size.and_then(|size| Pixmap::new(size.width(), size.height()));
            let mut pixels = pixels.ok_or_else(|| failed("it is too large".to_owned()))?;
            resvg::render(&tree, Transform::from_scale(FINE, FINE), &mut pixels.as_mut());
            pixels.encode_png().map_err(|error| failed(error.to_string()))
        }
    }

    /// Returns the sans-serif family of the system, a known one, or any family.
    fn sans_serif(letters: &Database) -> Option<String> {
        let named = letters.family_name(&Family::SansSerif).to_owned();
        let there = |family: &&str| letters.query(&Query { families: &[Family::Name(family)], ..Query::default() }).is_some();
        let known = std::iter::once(named.as_str()).chain(FAMILIES).find(there).map(str::to_owned);
        known.or_else(|| letters.faces().find_map(|face| Some(face.families.first()?.0.clone())))
    }
}

/// The feature png is off.
#[cfg(not(feature = "png"))]
#[derive(Debug)]
pub(super) enum Painter {}

#[cfg(not(feature = "png"))]
impl Painter {
    fn new(name: &str) -> Result<Self, Failure> {
        let what = "this program was built without PNG; name a file that ends in .svg, or build it with `--features png`";
        Err(Failure::input(name, what))
    }

    fn paint(&self, _: &[u8]) -> Result<Vec<u8>, Failure> {
        match *self {}
    }
}
