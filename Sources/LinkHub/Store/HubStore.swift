import IoTCore

/// Where the hub keeps what it must never forget. One batch is under way at a time, and nothing else meanwhile: the hub
/// asks for the next thing when it has the answer.
///
/// `StoreConformance` in the tests says what holds for every store.
protocol HubStore: Sendable {
    /// Everything that can be read. A row that cannot be read is set aside and reported: it keeps no hub from starting.
    func load() async throws(IoTError) -> HubState

    /// Stores the changes of several turns, in their order: all of them, or none. They are on the disk when this
    /// returns.
    func commit(_ turns: [[StoreChange]]) async throws(CommitFailure)

    /// The answer that was stored under `number`; `nil` when it is forgotten.
    func answer(_ number: Int64) async throws(IoTError) -> [UInt8]?

    /// Events of devices, which the hub does not hold in memory. Looks at a bounded number of them.
    func events(_ selection: EventSelection) async throws(IoTError) -> EventRows

    /// Looks through everything that is stored, beside the hub's work.
    ///
    /// - Returns: The first findings; empty when it is sound, or the task was cancelled.
    func findDamage() async -> [String]

    /// What the operator does about damage.
    var damageRemedy: String { get }

    /// The hub will stop soon: from now on nothing waits until another program lets the store go.
    func waitNoLonger()

    /// Nothing is asked of it after this.
    func close()
}

/// Why a batch was not stored. Nothing of it was.
struct CommitFailure: Error {
    var error: IoTError
    /// The store itself has failed, as with a full disk. Otherwise one of the turns is at fault, and others can be
    /// stored without it.
    var isOfStore: Bool
}
