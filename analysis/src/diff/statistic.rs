//! Tests how much the runs of one side differ from the runs of the other side.
//!
//! Runs differ by factors (a slower machine, a lock that is taken more often), so their logarithms
//! are compared, by Student's test with the variance of both sides together. Two or three runs
//! hardly show how much runs differ: a row whose three values happen to be close would pass for a
//! steady one. So the usual variance of such rows counts as the variance of two more runs, an idea
//! from the moderated test of limma.

/// The number of runs that the usual spread counts for.
const USUAL_RUNS: f64 = 2.0;
/// Minimum number of runs on a side for a permutation test to tell something: of ten runs, 252
/// groups of five can be made, of six only 20.
const MIN_FOR_PERMUTATIONS: usize = 5;
/// Maximum number of ways of dividing runs that are tried.
const MAX_PERMUTATIONS: u64 = 20_000;

/// A comparison of the runs of both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Compared {
    /// Geometric mean of the new runs, divided by the geometric mean of the old runs.
    pub(super) ratio: f64,
    /// Probability that runs of one program differ as much.
    pub(super) chance: f64,
    /// Probability that runs of one program differ as much, by trying all ways to divide the runs
    /// between the sides. `None` with fewer than five runs on a side.
    pub(super) chance_of_permutations: Option<f64>,
    /// Standard error of the logarithm of the ratio.
    error: f64,
    /// Degrees of freedom of Student's distribution.
    freedom: f64,
}

impl Compared {
    /// Returns the bounds of the 95 % confidence interval of the ratio.
    pub(super) fn interval(&self) -> [f64; 2] {
        let half = quantile(0.05, self.freedom) * self.error;
        [(self.ratio.ln() - half).exp(), (self.ratio.ln() + half).exp()]
    }

    /// Returns the smallest ratio above 1 whose [`Compared::chance`] would be `chance`.
    pub(super) fn detectable(&self, chance: f64) -> f64 {
        (quantile(chance, self.freedom) * self.error).exp()
    }
}

/// Compares runs. `None` with fewer than two on a side, which cannot show how runs differ. `least`
/// is added to all values if one of them is 0, which has no logarithm. `usual` is the spread that
/// experience expects of such rows. With `is_exact`, values are whole numbers; if they never differ
/// within a side, a difference between the sides is not chance.
pub(super) fn compare(
    old: &[f64],
    new: &[f64],
    least: f64,
    usual: f64,
    is_exact: bool,
) -> Option<Compared> {
    if old.len() < 2 || new.len() < 2 {
        return None;
    }
    let are_equal = |values: &[f64]| values.windows(2).all(|pair| pair.first() == pair.last());
    let is_constant = is_exact && are_equal(old) && are_equal(new);
    let least = if old.iter().chain(new).any(|value| *value <= 0.0) { least } else { 0.0 };
    let logarithms = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|value| (value.max(0.0) + least).max(f64::MIN_POSITIVE).ln()).collect()
    };
    let (old, new) = (logarithms(old), logarithms(new));
    let squares = |values: &[f64]| -> f64 {
        let mean = mean(values);
        values.iter().map(|value| (value - mean).powi(2)).sum()
    };
    let (m, n) = (old.len() as f64, new.len() as f64);
    let within = if is_constant { 0.0 } else { squares(&old) + squares(&new) };
    let apart = mean(&new) - mean(&old);
    let usual_runs = if is_constant { 0.0 } else { USUAL_RUNS };
    let freedom = m + n - 2.0 + usual_runs;
    let variance = (within + usual_runs * usual.powi(2)) / freedom;
    let error = (variance * (1.0 / m + 1.0 / n)).sqrt();
    let chance = match error {
        error if error > 0.0 => student(apart / error, freedom),
        _ if apart == 0.0 => 1.0,
        _ => 0.0,
    };
    Some(Compared {
        ratio: apart.exp(),
        chance,
        chance_of_permutations: permutations(&old, &new),
        error,
        freedom,
    })
}

/// Returns the share of all ways to divide the runs in which the means differ at least as much.
/// `None` with fewer than five runs on a side, or with so many that trying all ways takes long.
fn permutations(old: &[f64], new: &[f64]) -> Option<f64> {
    let (m, n) = (old.len(), new.len());
    if m.min(n) < MIN_FOR_PERMUTATIONS {
        return None;
    }
    let ways = (1..=m as u64)
        .try_fold(1_u64, |ways, at| ways.checked_mul((n as u64).checked_add(at)?)?.checked_div(at));
    ways.filter(|ways| *ways <= MAX_PERMUTATIONS)?;
    let all: Vec<f64> = old.iter().chain(new).copied().collect();
    let total: f64 = all.iter().sum();
    let apart = |sum_of_old: f64| ((total - sum_of_old) / n as f64 - sum_of_old / m as f64).abs();
    // Sums in another order differ in their last digits.
    let seen = apart(old.iter().sum()) - 1e-9;
    let (mut as_far, mut tried) = (0.0, 0.0);
    for_each_sum(&all, m, 0.0, &mut |sum| {
        tried += 1.0;
        as_far += f64::from(apart(sum) >= seen);
    });
    Some(as_far / tried)
}

/// Calls `take` with the sum of each group of `count` values.
fn for_each_sum(values: &[f64], count: usize, sum: f64, take: &mut dyn FnMut(f64)) {
    if count == 0 {
        return take(sum);
    }
    let Some((first, rest)) = values.split_first() else { return };
    for_each_sum(rest, count.saturating_sub(1), sum + first, take);
    if rest.len() >= count {
        for_each_sum(rest, count, sum, take);
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the value that Student's distribution exceeds, on either side of 0, with this chance.
fn quantile(chance: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if student(middle, freedom) > chance { low = middle } else { high = middle }
    }
    high
}

/// Returns the probability that a value of Student's distribution is at least as far from 0 as `t`.
fn student(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5).clamp(0.0, 1.0)
}

/// Computes the regularised incomplete beta function, by its continued fraction (Lentz).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front =
        (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let apart = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / apart(1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    for step in 1..300 {
        let m = f64::from(step);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / apart(1.0 + term * d);
            c = apart(1.0 + term / c);
            product *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-12 {
            break;
        }
    }
    product
}

/// Computes the logarithm of the gamma function (Lanczos).
fn log_gamma(x: f64) -> f64 {
    const FACTORS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let base = x + 5.5;
    let tail = FACTORS
        .iter()
        .zip(1_u8..)
        .fold(1.000_000_000_190_015, |sum, (factor, step)| sum + factor / (x + f64::from(step)));
    (2.506_628_274_631_000_5 * tail / x).ln() - (base - (x + 0.5) * base.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_distribution_is_that_of_the_tables() {
        for (t, freedom, expected) in
            [(2.228, 10.0, 0.05), (2.750, 30.0, 0.01), (1.96, 1e6, 0.05), (0.0, 5.0, 1.0)]
        {
            assert!((student(t, freedom) - expected).abs() < 5e-4, "{t} {freedom}");
        }
        assert!((quantile(0.05, 10.0) - 2.228).abs() < 1e-3);
    }

    fn chance(old: &[f64], new: &[f64]) -> f64 {
        compare(old, new, 0.01, 0.07, false).unwrap().chance
    }

    #[test]
    fn runs_of_a_side_that_differ_among_themselves_do_not_differ_from_the_other_side() {
        // Spinning at a lock, in four runs of one program.
        assert!(chance(&[33.1, 5.7], &[7.9, 7.5]) > 0.1);
        assert!(chance(&[22.0, 16.5], &[10.0, 5.4]) > 0.01, "of five subjects one must be below");
        assert!(chance(&[19.0, 19.8], &[7.9, 7.5]) < 0.01);
        // Runs that are close by chance do not count as steady.
        assert!(chance(&[100.0, 100.1], &[103.0, 103.1]) > 0.5);
        // A method that only the new program has.
        assert!(chance(&[0.0, 0.0], &[3.0, 3.4]) < 0.01);
        assert!(chance(&[0.0, 0.0], &[0.0, 3.4]) > 0.1);
        assert_eq!(chance(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        assert_eq!(compare(&[1.0], &[2.0, 2.0], 0.0, 0.07, false), None);
    }

    #[test]
    fn counts_that_are_the_same_in_all_runs_of_a_side_do_not_differ_by_chance() {
        let exact = |old, new| compare(old, new, 0.5, 0.02, true).unwrap();
        assert_eq!(exact(&[31.0; 3], &[36.0; 3]).chance, 0.0);
        assert_eq!(exact(&[31.0; 3], &[31.0; 3]).chance, 1.0);
        assert!(exact(&[31.0, 35.0, 33.0], &[36.0; 3]).chance > 0.01);
        let [low, high] = exact(&[30.0; 2], &[45.0; 2]).interval();
        assert!((low - 1.5).abs() < 1e-9 && (high - 1.5).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn the_interval_has_the_ratio_and_the_smallest_change_is_just_seen() {
        let (old, new) = ([10.0, 11.0, 10.5], [13.0, 12.5, 13.5]);
        let compared = compare(&old, &new, 0.0, 0.07, false).unwrap();
        let [low, high] = compared.interval();
        assert!(low < compared.ratio && compared.ratio < high && low > 1.0, "{compared:?}");
        assert_eq!(compared.chance_of_permutations, None, "three runs prove nothing that way");
        let smallest = compared.detectable(compared.chance);
        assert!((smallest - compared.ratio).abs() < 1e-3, "{smallest} {compared:?}");
    }

    #[test]
    fn of_five_runs_on_each_side_all_ways_to_divide_them_are_tried() {
        let apart = permutations(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_eq!(apart, Some(2.0 / 252.0));
        assert_eq!(permutations(&[1.0; 5], &[1.0; 5]), Some(1.0));
        assert_eq!(permutations(&[1.0; 30], &[2.0; 30]), None, "too many ways");
    }
}
