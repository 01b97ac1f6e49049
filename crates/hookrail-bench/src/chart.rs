//! Draws a measurement as a chart: for each case, the time of each variant on a logarithmic scale.

use std::fmt::Write as _;

use crate::results::{BenchResults, CaseResult};
use crate::table::{duration, number};

// Lengths in the SVG's units.

const CHART_WIDTH: f64 = 1000.0;
/// The room for the names of the variants.
const LEFT_MARGIN: f64 = 190.0;
/// The room for the time beside the longest bar.
const RIGHT_MARGIN: f64 = 170.0;
const BAR_HEIGHT: f64 = 14.0;
const BAR_GAP: f64 = 4.0;
const TITLE_HEIGHT: f64 = 26.0;
/// The room for the legend and the labels of the scale.
const HEADER_HEIGHT: f64 = 64.0;

/// The chart, as a self-contained SVG.
#[must_use]
pub fn svg(results: &BenchResults) -> String {
    let cases: Vec<&CaseResult> = results.cases.iter().filter(|case| case.variants.len() > 1).collect();
    let rows: usize = cases.iter().map(|case| case.variants.len()).sum();
    let height = HEADER_HEIGHT + TITLE_HEIGHT * cases.len() as f64 + (BAR_HEIGHT + BAR_GAP) * rows as f64 + 24.0;
    let scale = Scale::around(&cases);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {CHART_WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"11\">"
    );
    let _ = writeln!(svg, "<title>hookrail against the floor and against its peers</title>");
    let _ = writeln!(svg, "<rect width=\"{CHART_WIDTH}\" height=\"{height}\" fill=\"#fff\"/>");
    draw_legend(&mut svg);
    scale.draw(&mut svg, height);
    let mut top = HEADER_HEIGHT;
    for case in cases {
        let _ = writeln!(
            svg,
            "<text x=\"8\" y=\"{:.1}\" font-weight=\"bold\">{}: {}</text>",
            top + TITLE_HEIGHT - 8.0,
            escaped(&case.name),
            escaped(&case.title.replace('`', ""))
        );
        top += TITLE_HEIGHT;
        for variant in &case.variants {
            draw_bar(&mut svg, &scale, case, &variant.name, top);
            top += BAR_HEIGHT + BAR_GAP;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the bar of a variant: its median, a line from the 10th to the 90th percentile, and the ratio to the first variant.
fn draw_bar(svg: &mut String, scale: &Scale, case: &CaseResult, name: &str, top: f64) {
    let Some(time) = case.variant(name).and_then(|variant| variant.time()) else { return };
    let ratio = case.variants.first().and_then(|first| case.ratio(name, &first.name));
    let end = scale.x(time.median);
    let ratio_text = ratio.map(|ratio| format!(", {} x", number(ratio.median))).unwrap_or_default();
    let baseline = top + BAR_HEIGHT - 3.5;
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{baseline:.1}\" text-anchor=\"end\">{}</text>",
        LEFT_MARGIN - 6.0,
        escaped(name)
    );
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT_MARGIN}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{BAR_HEIGHT}\" fill=\"{}\"/>",
        end - LEFT_MARGIN,
        colour(name)
    );
    let (low, high) = (scale.x(time.p10), scale.x(time.p90));
    let middle = top + BAR_HEIGHT / 2.0;
    let _ = writeln!(svg, "<path d=\"M{low:.1} {middle:.1}H{high:.1}\" stroke=\"#000\" stroke-width=\"1.5\"/>");
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{baseline:.1}\">{}{ratio_text}</text>",
        end.max(high) + 6.0,
        duration(time.median)
    );
}

fn draw_legend(svg: &mut String) {
    let entries = [("floor", "the floor of the machine"), ("hookrail", "hookrail"), ("gemini", "a peer")];
    let _ =
        writeln!(svg, "<text x=\"8\" y=\"20\" font-size=\"14\" font-weight=\"bold\">median time, logarithmic</text>");
    for (index, (name, label)) in entries.into_iter().enumerate() {
        let left = 260.0 + 200.0 * index as f64;
        let _ = writeln!(svg, "<rect x=\"{left}\" y=\"9\" width=\"14\" height=\"14\" fill=\"{}\"/>", colour(name));
        let _ = writeln!(svg, "<text x=\"{}\" y=\"20\">{label}</text>", left + 20.0);
    }
}

/// Returns the colour of a variant, whose name begins with what it measures: the floor of the machine, a peer, or hookrail.
fn colour(name: &str) -> &'static str {
    let starts_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts_with(&["floor", "true"]) {
        "#9aa0a6"
    } else if starts_with(&["gemini", "opendev", "node", "bun"]) {
        "#e8710a"
    } else {
        "#1a73e8"
    }
}

/// A logarithmic scale, which converts times to horizontal positions.
struct Scale {
    /// The powers of ten of the lowest and the highest nanoseconds.
    low: f64,
    high: f64,
}

impl Scale {
    /// Makes a scale from the power of ten below all times to the one above.
    fn around(cases: &[&CaseResult]) -> Self {
        let times = cases.iter().flat_map(|case| &case.variants).filter_map(|variant| Some(variant.time()?.median));
        let (low, high) = times.fold((f64::MAX, f64::MIN), |(low, high), time| (low.min(time), high.max(time)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
        let low = low.max(1e-3).log10().floor();
        Self { low, high: high.log10().ceil().max(low + 1.0) }
    }

    /// Returns the horizontal position of a time.
    fn x(&self, nanoseconds: f64) -> f64 {
        let share = (nanoseconds.max(1e-3).log10() - self.low) / (self.high - self.low);
        LEFT_MARGIN + share.clamp(0.0, 1.0) * (CHART_WIDTH - LEFT_MARGIN - RIGHT_MARGIN)
    }

    /// Draws a line and a label for each power of ten.
    fn draw(&self, svg: &mut String, height: f64) {
        let mut power = self.low;
        while power <= self.high {
            let time = 10_f64.powf(power);
            let x = self.x(time);
            let _ = writeln!(svg, "<path d=\"M{x:.1} {}V{height}\" stroke=\"#ddd\"/>", HEADER_HEIGHT - 12.0);
            let label = duration(time).replace(".00", "").replace(".0", "");
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                HEADER_HEIGHT - 18.0
            );
            power += 1.0;
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::VariantResult;

    #[test]
    fn longer_times_have_longer_bars_and_texts_are_escaped() {
        let variant =
            |name: &str, time| VariantResult { name: name.to_owned(), what: String::new(), nanoseconds: vec![time] };
        let case = CaseResult {
            name: "a<b".to_owned(),
            variants: vec![variant("floor", 100.0), variant("hookrail", 1000.0)],
            ..CaseResult::default()
        };
        let scale = Scale::around(&[&case]);
        assert!(scale.x(100.0) < scale.x(1000.0));
        let drawn = svg(&BenchResults { cases: vec![case], ..BenchResults::default() });
        assert!(drawn.contains("a&lt;b") && drawn.contains("10.0 x") && !drawn.contains("a<b"));
    }
}
