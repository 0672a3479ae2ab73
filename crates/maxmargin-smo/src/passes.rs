//! The passes over all variables: the state, its shards and the threads that share them.

pub(crate) mod direction;
pub(crate) mod layout;
pub(crate) mod shard;
pub(crate) mod state;
pub(crate) mod team;
