/// The version that the daemon and the command line report.
public enum ProductVersion {
    /// Semantic version (semver.org).
    public static let current = "0.1.0"

    /// The same as a number, for thing models: a thousand for each step of the minor, a million for the major version.
    public static let number: UInt32 = current.split(separator: ".").reduce(0) { $0 * 1_000 + (UInt32($1) ?? 0) }
}
