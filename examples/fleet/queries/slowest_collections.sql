-- Pauses of collections by version of the runtime, slowest first.
select writer as version, generation, count(*) as collections,
       max(pause_ns) as longest_pause_ns, cast(sum(pause_ns) as bigint) as pause_ns
from gcs join (select distinct input_id, writer from inputs) as traces using (input_id)
group by writer, generation
order by longest_pause_ns desc, version, generation
