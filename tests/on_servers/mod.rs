//! What can be tried only where there is a server: sessions that exclude each other row by row, roles, languages.

mod deadlocks;
mod isolation;
mod languages;
mod least_privilege;
mod privileges;
mod time_zones;
