//! The parameters of a dispatch: its rows and bindings.

shared! {
    "pdes/engine.wgsl":
    #[derive(Default, PartialEq, Eq)]
    pub(in crate::pdes) struct Part {
        pub(in crate::pdes) parity: u32,
        pub(in crate::pdes) first_group: u32,
        pub(in crate::pdes) queue_first: u32,
        pub(in crate::pdes) queue_rows: u32,
        pub(in crate::pdes) inbox_first: u32,
        pub(in crate::pdes) partials_first: u32,
        pub(in crate::pdes) partials_count: u32,
        pub(in crate::pdes) memory_first: u32,
        pub(in crate::pdes) turn: u32,
        pub(in crate::pdes) slice: u32,
        pub(in crate::pdes) others_first: u32,
        pub(in crate::pdes) others_rows: u32,
    }
}
