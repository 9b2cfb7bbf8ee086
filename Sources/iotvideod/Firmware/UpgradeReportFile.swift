import Firmware
import Glibc
import IoTCore

/// How the program that installs releases tells the daemon what came of one: the file `report` in the directory of the
/// release. The daemon writes `.pending` with a release, and the program removes it with its report.
struct UpgradeReportFile: Sendable {
    private static let limit = 4096

    let directory: String

    private var report: String { directory + "/report" }
    private var pending: String { directory + "/.pending" }

    /// Whether a release waits for its report.
    var isExpected: Bool { access(pending, F_OK) == 0 }

    /// `nil` if there is none.
    func read() -> UpgradeReport? {
        guard let bytes = try? PrivateFile.bytes(of: report, limit: Self.limit, secrecy: nil) else { return nil }
        return UpgradeReport(String(decoding: bytes, as: UTF8.self))
    }

    /// A new upgrade begins.
    func forget() {
        unlink(report)
        unlink(pending)
    }

    /// - Throws: `fileFailed`.
    func expect() throws(IoTError) {
        try PrivateFile.write("", to: pending)
    }
}
