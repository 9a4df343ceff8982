//! What can be tried on MariaDB and MySQL alone.

mod binlog;
mod careless;
