-- Exceptions by type, host and day.
select host, cast(date as string) as day, type, count(*) as thrown
from exceptions
group by host, cast(date as string), type
order by host, day, thrown desc, type
