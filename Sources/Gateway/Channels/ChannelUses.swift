import IoTCore
package import MediaChannel
import MediaPlayer
import NIOCore

/// Tracks which channels are in use, so that channels of dead clients are closed.
package actor ChannelUses {
    private struct Entry {
        let owner: AccessID
        /// A part of `SharedResource.channelUses`.
        let part: QuotaPart
        var sinks: [MediaSink] = []
        /// Readers of data, which may have left.
        var readers: [WeakReader] = []
        /// Talks, and data being sent.
        var works = 0
        var lastUsed: NIODeadline
    }

    private struct WeakReader {
        weak var reader: DataReader<ByteBuffer>?
    }

    private let registry: ChannelRegistry
    private var idleTimeout: TimeAmount
    private var entries: [String: Entry] = [:]

    package init(registry: ChannelRegistry, idleTimeout: Duration) {
        self.registry = registry
        self.idleTimeout = TimeAmount(idleTimeout)
    }

    package func setIdleTimeout(_ timeout: Duration) {
        idleTimeout = TimeAmount(timeout)
    }

    /// Adds an opened channel, which belongs to this account.
    func add(_ id: String, owner: AccessID, _ part: QuotaPart) {
        entries[id] = Entry(owner: owner, part: part, lastUsed: .now())
    }

    /// The account that the channel belongs to; `nil` if there is no such channel.
    func owner(of id: String) -> AccessID? {
        entries[id]?.owner
    }

    func ids(of account: AccessID) -> Set<String> {
        Set(entries.filter { $0.value.owner == account }.keys)
    }

    /// Called for every request for the channel.
    func touch(_ id: String) {
        entries[id]?.lastUsed = .now()
    }

    /// Adds a sink from which a response reads.
    func add(_ sink: MediaSink, to id: String) {
        entries[id]?.sinks.append(sink)
    }

    /// Adds a reader of data, which ends with the use.
    func add(_ reader: DataReader<ByteBuffer>, to id: String) {
        entries[id]?.readers.append(WeakReader(reader: reader))
    }

    /// The channel is in use while a talk is in progress, or data are being sent.
    func beginWork(_ id: String) { entries[id]?.works += 1 }
    func endWork(_ id: String) { entries[id]?.works -= 1 }

    /// Ends the bodies of the use in order, and then its part in the channel.
    func close(_ id: String) async {
        guard let entry = entries.removeValue(forKey: id) else { return }
        entry.sinks.forEach { $0.end() }
        entry.readers.forEach { $0.reader?.end() }
        await registry.close(id)
    }

    func closeAll() async {
        for id in Array(entries.keys) { await close(id) }
    }

    /// Closes channels that are no longer used. Runs until cancelled.
    package func sweep() async {
        while !Task.isCancelled {
            for id in Array(entries.keys) {
                if await isInUse(id) { entries[id]?.lastUsed = .now() }
                if let entry = entries[id], NIODeadline.now() - entry.lastUsed > idleTimeout { await close(id) }
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func isInUse(_ id: String) async -> Bool {
        entries[id]?.sinks.removeAll { $0.chunks.isClosed }
        entries[id]?.readers.removeAll { $0.reader == nil }
        if let entry = entries[id], !entry.sinks.isEmpty || !entry.readers.isEmpty || entry.works > 0 { return true }
        guard let use = try? await registry.use(id) else { return false }
        return await use.isWatched
    }
}
