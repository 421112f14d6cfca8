//! The table: work, goals, floor, ours, TraceEvent.

use super::SittingPlan;

/// One line of the table.
#[derive(Debug, Default)]
pub struct TableRow {
    work: String,
    unit: &'static str,
    must: Option<(bool, f64)>,
    aim: String,
    floor: String,
    ours: f64,
    theirs: String,
}

impl TableRow {
    /// At least so much must be reached.
    pub fn at_least(&mut self, must: f64, aim: &str) -> &mut TableRow {
        (self.must, self.aim) = (Some((true, must)), aim.to_owned());
        self
    }

    /// No more than so much may be needed.
    pub fn at_most(&mut self, must: f64, aim: &str) -> &mut TableRow {
        (self.must, self.aim) = (Some((false, must)), aim.to_owned());
        self
    }

    /// What the floor gives.
    pub fn floor(&mut self, floor: String) -> &mut TableRow {
        self.floor = floor;
        self
    }

    /// What was reached.
    pub fn ours(&mut self, ours: f64) -> &mut TableRow {
        self.ours = ours;
        self
    }

    /// What TraceEvent gives.
    pub fn theirs(&mut self, theirs: String) -> &mut TableRow {
        self.theirs = theirs;
        self
    }

    fn verdict(&self) -> &'static str {
        match self.must {
            None => "",
            Some((true, must)) if self.ours >= must => "",
            Some((false, must)) if self.ours <= must => "",
            Some(_) => "missed",
        }
    }
}

/// All lines.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<TableRow>,
}

impl Table {
    /// One more line.
    pub fn add(&mut self, work: &str, unit: &'static str) -> &mut TableRow {
        let row = TableRow { work: work.to_owned(), unit, ours: f64::NAN, ..TableRow::default() };
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// Prints it as markdown.
    pub fn print(&self, plan: SittingPlan) {
        let size = if plan.divisor > 1 { ", traces too small to count" } else { "" };
        println!("Medians of {} rounds in turns{size}.\n", plan.rounds);
        println!("| goal | must | aim | floor | ours | TraceEvent | |");
        println!("|---|---|---|---|---|---|---|");
        for row in &self.rows {
            let must = match row.must {
                Some((true, must)) => format!("≥ {}", number(must)),
                Some((false, must)) => format!("≤ {}", number(must)),
                None => String::new(),
            };
            let TableRow { work, unit, aim, floor, theirs, .. } = row;
            let (ours, verdict) = (number(row.ours), row.verdict());
            println!(
                "| {work}, {unit} | {must} | {aim} | {floor} | {ours} | {theirs} | {verdict} |"
            );
        }
        let missed = self.rows.iter().filter(|row| !row.verdict().is_empty()).count();
        println!("\n{missed} of {} missed.", self.rows.len());
    }
}

/// Three digits.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_what_it_must_reach_or_above_what_it_may_need_is_missed() {
        let mut table = Table::default();
        assert_eq!(table.add("a", "").at_least(2.0, "").ours(1.9).verdict(), "missed");
        assert_eq!(table.add("a", "").at_least(2.0, "").ours(2.0).verdict(), "");
        assert_eq!(table.add("a", "").at_most(2.0, "").ours(2.1).verdict(), "missed");
        assert_eq!(table.add("not measured", "").at_most(2.0, "").verdict(), "missed");
        assert_eq!(table.add("only stated", "").ours(7.0).verdict(), "");
    }
}
