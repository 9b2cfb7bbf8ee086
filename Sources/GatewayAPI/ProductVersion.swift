/// The version that the daemon and the command-line tool report.
public enum ProductVersion {
    /// Semantic version (semver.org).
    public static let current = "0.1.0"

    /// The version as a number for thing models: major × 1,000,000 + minor × 1,000 + patch.
    public static let number: UInt32 = current.split(separator: ".").reduce(0) { $0 * 1_000 + (UInt32($1) ?? 0) }
}
