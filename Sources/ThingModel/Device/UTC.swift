import Glibc

/// Wall time, for `t` fields only.
public enum UTC {
    /// Whole seconds since 1970.
    public static func seconds() -> Int64 {
        Int64(time(nil))
    }
}
