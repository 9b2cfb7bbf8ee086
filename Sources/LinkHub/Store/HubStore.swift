import IoTCore

/// The hub's persistent state. Except `findDamage`, only one operation runs at a time: the hub starts the next one when
/// it has the result.
///
/// `StoreConformanceTests` defines the behaviour of every store.
protocol HubStore: Sendable {
    /// Returns everything that can be read. A row that cannot be read is set aside and reported; it does not prevent a
    /// start.
    func load() async throws(IoTError) -> HubState

    /// Stores the changes of several turns, in order: all of them, or none. When this returns they are on the disk.
    func commit(_ turns: [[StoreChange]]) async throws(CommitFailure)

    /// The answer that was stored under `number`; `nil` if it was forgotten.
    func answer(_ number: Int64) async throws(IoTError) -> [UInt8]?

    /// Reads events of devices, which the hub does not keep in memory. Reads a bounded number of rows.
    func events(_ selection: EventSelection) async throws(IoTError) -> EventRows

    /// Searches all stored data for damage, concurrently with the hub's work.
    ///
    /// - Returns: The first findings; empty if there is no damage, or the task was cancelled.
    func findDamage() async -> [String]

    /// What the operator should do about damage.
    var damageRemedy: String { get }

    /// Call this before the hub stops: from now on, no operation waits for another program's lock.
    func waitNoLonger()

    /// Nothing may be called after this.
    func close()
}

/// Why a batch was not stored. None of its changes was stored.
struct CommitFailure: Error {
    var error: IoTError
    /// Whether the store itself has failed, for example because the disk is full. Otherwise one of the turns is the
    /// cause, and others can be stored without it.
    var isOfStore: Bool
}
