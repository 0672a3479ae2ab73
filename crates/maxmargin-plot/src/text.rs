//! Words and numbers as pictures and tables show them.

/// Width of a letter of 12 pixels in a font without serifs, on average, in pixels.
const LETTER: f64 = 6.6;

/// Returns the width that a text of 12 pixels will have, in pixels.
///
/// ```
/// assert_eq!(maxmargin_plot::width("a9a"), 3.0 * 6.6);
/// ```
pub fn width(text: &str) -> f64 {
    LETTER * text.chars().count() as f64
}

/// Returns the text as XML takes it between tags and in quoted attributes.
///
/// ```
/// assert_eq!(maxmargin_plot::escaped("C < 1 & \"more\""), "C &lt; 1 &amp; &quot;more&quot;");
/// ```
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns a line in lines of at most so many columns, broken between words: those after the first
/// are indented two columns further than the line, which leaves a bullet alone on none. `may_begin`
/// says which words may begin a line.
///
/// ```
/// let text = maxmargin_plot::wrapped("- of few words", 10, |_| true);
/// assert_eq!(text, "- of few\n  words");
/// ```
pub fn wrapped(line: &str, columns: usize, may_begin: impl Fn(&str) -> bool) -> String {
    let indent = line.len() - line.trim_start().len();
    let (mut found, mut column) = (" ".repeat(indent), indent);
    for (at, word) in line.trim_start().split(' ').enumerate() {
        let length = word.trim_end().chars().count();
        if column > indent + 2 && column + 1 + length > columns && may_begin(word) {
            found.push('\n');
            found += &" ".repeat(indent + 2);
            column = indent + 2;
        } else if at > 0 {
            found.push(' ');
            column += 1;
        }
        found += word;
        column += length;
    }
    found
}

/// Returns a count with commas between thousands: `1234567` as `1,234,567`.
///
/// ```
/// assert_eq!([0.0, 999.0, 1000.0, 1_234_567.0].map(maxmargin_plot::count), ["0", "999", "1,000", "1,234,567"]);
/// ```
pub fn count(x: f64) -> String {
    let digits = (x.round() as u64).to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the words with a capital letter first, as the beginning of a sentence.
///
/// ```
/// assert_eq!(maxmargin_plot::capital("seconds of a fold"), "Seconds of a fold");
/// ```
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
