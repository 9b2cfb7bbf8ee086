import IoTCore
import IoTLink
import Logging
import NetConfig

/// Sets the network and the hub of this box. All ways share it, and it makes one attempt at a time.
actor Onboarding {
    /// Long enough to get an address in a newly joined network, and short enough for a waiting person.
    private static let hubTimeout = Duration.seconds(15)

    private let joining: Joining
    private let camera: String
    private let applier: any WiFiApplier
    private let logger: Logger
    private var turns = TurnQueue()
    private var isBound = false
    private var isFinished = false

    /// - Parameter camera: the camera that becomes the device.
    init(joining: Joining, camera: String, applier: any WiFiApplier, logger: Logger) {
        self.joining = joining
        self.camera = camera
        self.applier = applier
        self.logger = logger
    }

    func scan() async -> [WiFiNetwork] {
        await applier.scan()
    }

    func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome {
        do throws(IoTError) {
            try await takeTurn()
        } catch {
            return .failed(error.message)
        }
        defer { turns.leave() }
        return await applier.apply(credentials)
    }

    /// Joins the hub with a provisioning token. If the box has already joined a hub, claims the device with the token instead.
    ///
    /// - Returns: the camera's id at the hub.
    /// - Throws: 21100 for a malformed token or address, 21101 for an expired token, 21102 for the token of another hub, 8022
    ///   and 8023 for a device that is already bound, and the reason why the hub could not be reached.
    func bind(hub: String, token: String) async throws(IoTError) -> DeviceID {
        let string = try EnrolmentString(hub: hub, token: token)
        try await takeTurn()
        defer { turns.leave() }
        let device: DeviceID
        if let joined = try JoinedBox.load(dataDirectory: joining.dataDirectory), let known = joined.devices[camera] {
            guard try Joining.isHub(of: joined, string) else {
                throw IoTError(
                    .notBindable, "the camera belongs to another hub",
                    remedy: "reset the camera, so that it leaves that hub, and make a new token")
            }
            try await DeviceClaim(device: known, endpoint: joined.linkEndpoint, logger: logger)
                .run(token: token, timeout: Self.hubTimeout)
            device = known.id
        } else {
            let joined = try await joining.join(with: string, as: camera, timeout: Self.hubTimeout)
            guard let new = joined.devices[camera] else {
                throw IoTError(.fileFailed, "cameras-joined/\(camera) does not contain what was written")
            }
            device = new.id
        }
        isBound = true
        return device
    }

    /// Waits until the running attempt has ended, because its token would be lost. No other attempt begins after it.
    func finish() async {
        isFinished = true
        // With a full queue this call waits, too.
        if (try? turns.take()) != true { await withCheckedContinuation { turns.wait($0) } }
        turns.leave()
    }

    /// Waits until no other attempt runs.
    ///
    /// - Throws: `.alreadyBound` if another attempt has bound the camera; `.stopping` after `finish()`.
    private func takeTurn() async throws(IoTError) {
        if try !turns.take() { await withCheckedContinuation { turns.wait($0) } }
        guard !isBound, !isFinished else {
            turns.leave()
            throw isBound
                ? IoTError(.alreadyBound, "another attempt has just bound the camera to its hub")
                : IoTError(.stopping, "the provisioning mode has ended")
        }
    }
}

/// The Wi-Fi applier of the servers. Each attempt waits for those of the other ways.
struct OnboardingApplier: WiFiApplier {
    let onboarding: Onboarding

    func scan() async -> [WiFiNetwork] { await onboarding.scan() }

    func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome { await onboarding.apply(credentials) }
}
