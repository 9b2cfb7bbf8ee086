import IoTCore
import IoTLink
import Logging
import NetConfig

/// Gives this box its network and its hub, by one attempt at a time, whichever way a person chose.
actor Onboarding {
    /// Long enough for an address in a network that was joined just now, and shorter than a person waits.
    private static let hubTimeout = Duration.seconds(15)

    private let dataDirectory: String
    private let camera: String
    private let applier: any WiFiApplier
    private let logger: Logger
    private var turns = TurnQueue()
    private var isBound = false

    /// - Parameter camera: the camera that becomes the device.
    init(dataDirectory: String, camera: String, applier: any WiFiApplier, logger: Logger) {
        self.dataDirectory = dataDirectory
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

    /// Joins the hub with a provisioning token, or claims the device with it where the box has joined before.
    ///
    /// - Returns: the camera's id at the hub.
    /// - Throws: 21100 for a malformed token or address, 21101 for a token that is over, 21102 for another hub's, 8022 and
    ///   8023 for a device that is bound, and why the hub could not be reached.
    func bind(hub: String, token: String) async throws(IoTError) -> DeviceID {
        let string = try EnrolmentString(hub: hub, token: token)
        try await takeTurn()
        defer { turns.leave() }
        let device: DeviceID
        if let joined = try JoinedBox.load(dataDirectory: dataDirectory), let known = joined.devices[camera] {
            guard try Joining.isHub(of: joined, string) else {
                throw IoTError(
                    .notBindable, "the camera belongs to another hub",
                    remedy: "reset it, so that it forgets that hub, and make a new token")
            }
            try await DeviceClaim(device: known, endpoint: joined.linkEndpoint, logger: logger)
                .run(token: token, timeout: Self.hubTimeout)
            device = known.id
        } else {
            let joined = try await Joining(dataDirectory: dataDirectory)
                .join(with: string, cameras: [camera], timeout: Self.hubTimeout)
            guard let new = joined.devices[camera] else {
                throw IoTError(
                    .notBindable, "the token is an account's and not a device's",
                    remedy: "make one with `iotctl net token`")
            }
            device = new.id
        }
        isBound = true
        return device
    }

    /// - Throws: `.alreadyBound` when another attempt came first.
    private func takeTurn() async throws(IoTError) {
        if try !turns.take() { await withCheckedContinuation { turns.wait($0) } }
        guard !isBound else {
            turns.leave()
            throw IoTError(.alreadyBound, "the camera has just been given its hub")
        }
    }
}

/// The Wi-Fi of `ProvisioningServer`, which takes its turn with the other ways.
struct OnboardingApplier: WiFiApplier {
    let onboarding: Onboarding

    func scan() async -> [WiFiNetwork] { await onboarding.scan() }

    func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome { await onboarding.apply(credentials) }
}
