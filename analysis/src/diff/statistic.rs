//! Whether two series of measurements differ by more than their variation: Welch's
//! t-test, and for durations the rank test of Mann and Whitney.
//!
//! Neighbouring slices of a trace are similar (a program does the same thing for a
//! while), so they carry less information than independent ones: their number is reduced
//! according to the correlation of each slice with the previous one.

/// Mean and variance of a series, and the number of independent measurements it is
/// equivalent to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    mean: f64,
    variance: f64,
    worth: f64,
}

pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn moments(values: &[f64]) -> Moments {
    let (count, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = if count > 1.0 { squares / (count - 1.0) } else { 0.0 };
    let neighbours = values.iter().zip(values.iter().skip(1));
    let alike: f64 = neighbours.map(|(one, next)| (one - mean) * (next - mean)).sum();
    let likeness = if squares > 0.0 { (alike / squares).clamp(0.0, 0.9) } else { 0.0 };
    Moments { mean, variance, worth: (count * (1.0 - likeness) / (1.0 + likeness)).max(1.0) }
}

/// Probability that the means of two series with the same distribution differ this much.
pub(super) fn welch(old: &[f64], new: &[f64]) -> f64 {
    if old.len() < 2 || new.len() < 2 {
        return 1.0;
    }
    let (old, new) = (moments(old), moments(new));
    let (a, b) = (old.variance / old.worth, new.variance / new.worth);
    let spread = a + b;
    if spread <= 0.0 {
        return if old.mean == new.mean { 1.0 } else { 0.0 };
    }
    let t = (new.mean - old.mean) / spread.sqrt();
    let freedom = spread.powi(2)
        / (a.powi(2) / (old.worth - 1.0).max(1.0) + b.powi(2) / (new.worth - 1.0).max(1.0));
    student(t, freedom.max(1.0))
}

/// Probability that the values of whole traces with the same distribution differ this
/// much, with one value per trace: Student's test with the variance of both sides
/// together. `None` with fewer than two traces per side, which cannot show how traces
/// vary.
///
/// What differs from run to run does so by a factor (the machine is busy, a lock is found
/// taken more often), so the logarithms are compared where there are any.
pub(super) fn traces(old: &[f64], new: &[f64]) -> Option<f64> {
    if old.len() < 2 || new.len() < 2 {
        return None;
    }
    let has_logarithms = old.iter().chain(new).all(|value| *value > 0.0);
    let scaled = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|value| if has_logarithms { value.ln() } else { *value }).collect()
    };
    let (old, new) = (scaled(old), scaled(new));
    let squares = |values: &[f64]| -> f64 {
        let mean = mean(values);
        values.iter().map(|value| (value - mean).powi(2)).sum()
    };
    let (m, n) = (old.len() as f64, new.len() as f64);
    let freedom = m + n - 2.0;
    let spread = (squares(&old) + squares(&new)) / freedom * (1.0 / m + 1.0 / n);
    let apart = mean(&new) - mean(&old);
    if spread <= 0.0 {
        return Some(if apart == 0.0 { 1.0 } else { 0.0 });
    }
    Some(student(apart / spread.sqrt(), freedom))
}

/// The same by ranks: for durations, of which a few are much longer than the rest.
pub(super) fn ranks(old: &[f64], new: &[f64]) -> f64 {
    let (m, n) = (old.len() as f64, new.len() as f64);
    if old.len() < 3 || new.len() < 3 {
        return 1.0;
    }
    let mut all: Vec<(f64, bool)> = old.iter().map(|value| (*value, true)).collect();
    all.extend(new.iter().map(|value| (*value, false)));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut sum, mut ties, mut rank) = (0.0, 0.0, 1.0);
    for equal in all.chunk_by(|one, other| one.0 == other.0) {
        let count = equal.len() as f64;
        let of_old = equal.iter().filter(|(_, is_old)| *is_old).count() as f64;
        sum += of_old * (rank + (count - 1.0) / 2.0);
        ties += count.powi(3) - count;
        rank += count;
    }
    let u = sum - m * (m + 1.0) / 2.0;
    let all = m + n;
    let variance = m * n / 12.0 * ((all + 1.0) - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - m * n / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    // With this many degrees of freedom, Student's distribution equals the normal
    // distribution.
    student(z, 1e6)
}

/// The same for two counts with their divisors: a count of random events varies by its
/// square root. Successive samples of one thread are correlated, so twice the variance is
/// assumed.
pub(super) fn counts((old, old_divisor): (f64, f64), (new, new_divisor): (f64, f64)) -> f64 {
    if old_divisor <= 0.0 || new_divisor <= 0.0 {
        return 1.0;
    }
    // One is added on each side, so that a count of zero is not taken as certain.
    let variance = (old + 1.0) / old_divisor.powi(2) + (new + 1.0) / new_divisor.powi(2);
    let z = (new / new_divisor - old / old_divisor).abs() / (2.0 * variance).sqrt();
    student(z, 1e6)
}

/// Probability that a value of Student's distribution is at least as far from 0 as `t`.
fn student(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5).clamp(0.0, 1.0)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz).
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

/// The logarithm of the gamma function (Lanczos).
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
            assert!(
                (student(t, freedom) - expected).abs() < 5e-4,
                "{t} {freedom}: {}",
                student(t, freedom)
            );
        }
    }

    #[test]
    fn series_that_vary_as_much_as_they_differ_do_not_differ() {
        let noise = |seed: u64, base: f64| -> Vec<f64> {
            let mut state = seed;
            std::iter::repeat_with(|| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                base + (state >> 33) as f64 / (1_u64 << 31) as f64
            })
            .take(20)
            .collect()
        };
        assert!(welch(&noise(1, 10.0), &noise(2, 10.0)) > 0.05);
        assert!(welch(&noise(1, 10.0), &noise(2, 12.0)) < 1e-6);
        assert!(ranks(&noise(1, 10.0), &noise(2, 10.0)) > 0.05);
        assert!(ranks(&noise(1, 10.0), &noise(2, 12.0)) < 1e-6);
        assert!(
            counts((57.0, 3.0), (20.0, 2.0)) > 0.01 && counts((570.0, 3.0), (200.0, 2.0)) < 1e-6
        );
        assert_eq!((welch(&[1.0], &[2.0]), welch(&[1.0, 1.0], &[1.0, 1.0])), (1.0, 1.0));
    }

    #[test]
    fn traces_of_a_side_that_differ_among_themselves_do_not_differ_from_the_other_side() {
        // Spinning at a lock, in four runs of one program.
        assert!(traces(&[33.1, 5.7], &[7.9, 7.5]) > Some(0.1));
        assert!(traces(&[22.0, 16.5], &[10.0, 5.4]) > Some(0.1));
        assert!(traces(&[19.0, 19.8], &[7.9, 7.5]) < Some(0.01));
        // A method that only the new program has.
        assert!(traces(&[0.0, 0.0], &[3.0, 3.4]) < Some(0.01));
        assert!(traces(&[0.0, 0.0], &[0.0, 3.4]) > Some(0.1));
        assert_eq!(
            (traces(&[1.0], &[2.0, 2.0]), traces(&[1.0, 1.0], &[1.0, 1.0])),
            (None, Some(1.0))
        );
        // The factor counts: twice as much, each a fifth more or less.
        assert!(traces(&[10.0, 12.0], &[20.0, 24.0]) < Some(0.06));
    }

    #[test]
    fn slices_that_are_like_their_neighbours_are_worth_less() {
        let ramp: Vec<f64> = (0..20).map(f64::from).collect();
        let jumps: Vec<f64> = (0..20).map(|index| f64::from(index * 7 % 20)).collect();
        assert!(moments(&ramp).worth < 4.0 && moments(&jumps).worth > 10.0);
    }
}
