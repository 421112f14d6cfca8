//! Draws values as a line of blocks.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns one block for each value, the lowest for the smallest and the highest for the largest; a
/// space for a value that is no number.
pub(crate) fn sparkline(values: &[f64]) -> String {
    let known = || values.iter().copied().filter(|value| value.is_finite());
    let least = known().fold(f64::INFINITY, f64::min);
    let most = known().fold(f64::NEG_INFINITY, f64::max);
    let block = |value: &f64| {
        if !value.is_finite() {
            return ' ';
        }
        let height = if most > least { (value - least) / (most - least) } else { 0.0 };
        let last = BLOCKS.len() - 1;
        BLOCKS[((height * last as f64).round() as usize).min(last)]
    };
    values.iter().map(block).collect()
}

/// Returns a block for each count, at most `columns` of them, with 0 as the lowest. Where there are
/// more counts, neighbours are added up.
pub(crate) fn of_counts(counts: &[u64], columns: usize) -> String {
    let width = counts.len().div_ceil(columns.max(1)).max(1);
    let sums: Vec<f64> = counts.chunks(width).map(|part| part.iter().sum::<u64>() as f64).collect();
    let most = sums.iter().copied().fold(0.0, f64::max);
    let block = |sum: &f64| {
        let last = BLOCKS.len() - 1;
        let height = if most > 0.0 { sum / most } else { 0.0 };
        BLOCKS[((height * last as f64).ceil() as usize).min(last)]
    };
    sums.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_values() {
        assert_eq!(sparkline(&[0.0, f64::NAN, 7.0, 3.0]), "▁ █▄");
        assert_eq!(sparkline(&[5.0, 5.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(of_counts(&[0, 0, 4, 4, 1, 0], 3), "▁█▂");
        assert_eq!(of_counts(&[], 3), "");
    }
}
