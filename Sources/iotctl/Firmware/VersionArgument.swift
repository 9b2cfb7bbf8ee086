import ArgumentParser
import Firmware

/// Reads versions on the command line.
enum VersionArgument {
    static func version(_ text: String) throws -> FirmwareVersion {
        guard let version = FirmwareVersion(text) else {
            throw ValidationError("'\(text)' is not a version like 1.2.3")
        }
        return version
    }

    static func pattern(_ text: String) throws -> VersionPattern {
        guard let pattern = VersionPattern(text) else {
            throw ValidationError("'\(text)' is neither a version like 1.2.3 nor a series like 1.2.*")
        }
        return pattern
    }
}
