/// The version that the daemon and the command line report.
public enum ProductVersion {
    /// Semantic version (semver.org).
    public static let current = "0.1.0"
}
