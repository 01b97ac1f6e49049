//! Enums whose values have a name that programs and people read.

/// Declares such an enum. Each name is written beside its value, so that a value without a name does not compile.
macro_rules! named {
    ($(#[$about:meta])* pub enum $type:ident { $($(#[$detail:meta])* $value:ident = $name:literal,)+ }) => {
        $(#[$about])*
        pub enum $type { $($(#[$detail])* $value,)+ }

        impl $type {
            /// Every value, in the order of their declaration.
            pub const ALL: [Self; [$(Self::$value),+].len()] = [$(Self::$value),+];

            /// The name used in JSON, in configuration and in messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use named;
