-- An ordinary model: `stream` and `incremental` live beside whatever else a project has.
select carrier, name as airline
from {{ source('raw', 'airlines') }}
