//! Notices of a process about its metrics session, as sentences that name the options of `nettrace
//! counters` for the limits in question.

use nettrace_analysis::live::MetricsNotice;

/// Returns a notice as a sentence, which names the option that can help.
pub(crate) fn text(notice: &MetricsNotice) -> String {
    match notice {
        MetricsNotice::OtherConfiguration { refresh_interval, max_time_series, max_histograms } => {
            format!(
                "the runtime refuses to share its metrics session, which another tool began with other \
                 settings: instruments come with --refresh-interval {refresh_interval} \
                 --maxTimeSeries {max_time_series} --maxHistograms {max_histograms}"
            )
        }
        MetricsNotice::TimeSeriesLimit => {
            "there are more series than --maxTimeSeries allows; the others are not published"
                .to_owned()
        }
        MetricsNotice::HistogramLimit => {
            "there are more histograms than --maxHistograms allows; the others are not published"
                .to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_names_the_options_that_change_what_it_is_about() {
        let notice = MetricsNotice::OtherConfiguration {
            refresh_interval: "5".to_owned(),
            max_time_series: "77".to_owned(),
            max_histograms: "3".to_owned(),
        };
        let options = "--refresh-interval 5 --maxTimeSeries 77 --maxHistograms 3";
        assert!(text(&notice).ends_with(options), "{}", text(&notice));
        assert!(!notice.to_string().contains("--"), "{notice}");
        assert!(text(&MetricsNotice::TimeSeriesLimit).contains("--maxTimeSeries"));
        assert!(text(&MetricsNotice::HistogramLimit).contains("--maxHistograms"));
        let failed = MetricsNotice::Failed { message: "x".to_owned() };
        assert_eq!(text(&failed), failed.to_string());
    }
}
