public import Foundation

/// Held while a program starts.
private let startLock = NSLock()

extension Process {
    /// Use this in place of `run`. On Linux Foundation notices the end of a program when the program's end of a socket
    /// pair closes. `run` makes this pair, and another `run` at the same moment can let its own program inherit it.
    /// Then `waitUntilExit` waits for both programs: for ever, if one of them waits for the other
    /// (swift-corelibs-foundation, issue 4795).
    public func start() throws {
        try startLock.withLock { try run() }
    }
}
