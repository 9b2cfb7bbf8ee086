/// One search of this machine's networks with every protocol.
public struct LANSearch: Sendable {
    private let finders: [any DeviceFinder]

    public init(_ finders: [any DeviceFinder]) {
        self.finders = finders
    }

    /// - Parameter duration: Some devices need half a second for an answer, and datagrams may be lost.
    /// - Returns: The devices found when the time has ended or the task is cancelled.
    public func run(for duration: Duration) async -> DiscoveryTable {
        await withTaskGroup(of: Void.self, returning: DiscoveryTable.self) { group in
            let (sightings, source) = AsyncStream.makeStream(
                of: DeviceSighting.self, bufferingPolicy: .bufferingOldest(DiscoveryTable.capacity))
            for finder in finders {
                group.addTask {
                    for await sighting in finder.find(for: duration) { source.yield(sighting) }
                }
            }
            group.addTask {
                try? await Task.sleep(for: duration)
                source.finish()
            }
            var table = DiscoveryTable()
            for await sighting in sightings {
                switch sighting {
                case .found(let device): table.add(device)
                case .gone(let identity, let foundBy): table.remove(identity: identity, foundBy: foundBy)
                }
            }
            group.cancelAll()
            return table
        }
    }
}
