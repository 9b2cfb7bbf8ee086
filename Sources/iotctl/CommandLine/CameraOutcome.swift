import ArgumentParser
import GatewayAPI
import IoTCore

/// Waits for and reports the result of adding or changing a camera.
struct CameraOutcome: ParsableArguments {
    /// A camera that does not answer reaches the state `failed` within this time.
    private static let patience = Duration.seconds(12)
    private static let interval = Duration.milliseconds(200)
    /// The request's time limit, including a test of the source.
    static let requestTime = Duration.seconds(60)

    @Flag(help: "Try the source first; change nothing if it does not work.")
    var check = false

    @Flag(help: "Do not wait for the camera's first state.")
    var noWait = false

    var requested: Bool? { check ? true : nil }

    /// Prints the camera's first state, or a warning with the reason if it does not work.
    ///
    /// - Parameter done: what was done to the camera, for example `added`.
    func report(
        _ camera: CameraDescription, _ done: String, _ client: GatewayClient, asJSON: Bool
    ) async throws {
        let camera = noWait ? camera : try await settled(camera, client)
        if asJSON { return try Console.printJSON(camera) }
        if noWait { return }
        switch camera.state {
        case .ready: try Console.print("\(camera.name) is ready: \(Format.tracks(camera.tracks))")
        case .off: try Console.print("\(camera.name) is off")
        case .connecting:
            Console.note("warning \(camera.name) was \(done), and is still connecting")
            Console.note("  look again with `iotctl camera show \(camera.name)`")
        case .failed:
            let reason = camera.reason.map { "\($0.error)" } ?? "it failed"
            Console.note("warning \(camera.name) was \(done), but does not work: \(reason)")
            Console.note("  \(camera.reason?.remedy ?? "see `iotctl camera show \(camera.name)`")")
        }
    }

    private func settled(_ camera: CameraDescription, _ client: GatewayClient) async throws -> CameraDescription {
        let clock = ContinuousClock()
        let end = clock.now + Self.patience
        var camera = camera
        while camera.state == .connecting, clock.now + Self.interval < end {
            try await clock.sleep(for: Self.interval)
            camera = try await client.get(CameraDescription.self, APIPath("v1", "cameras", camera.name))
        }
        return camera
    }
}
