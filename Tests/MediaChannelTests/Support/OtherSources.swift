import IoTCore
import RTP

@testable import MediaChannel

/// The sources of a camera's definitions below `high`, which the camera opens and closes.
///
/// `@unchecked Sendable`: everything is used only on the test's thread.
final class OtherSources: @unchecked Sendable {
    private let definitions: [Definition]
    /// What receives the events of each open source.
    private(set) var open: [Definition: @Sendable (CameraSourceEvent) -> Void] = [:]
    private(set) var openings = 0

    init(_ definitions: [Definition]) {
        self.definitions = definitions
    }

    var openers: [CameraDefinitions.Place: CameraDefinitions.OpenSource] {
        var openers: [CameraDefinitions.Place: CameraDefinitions.OpenSource] = [:]
        for definition in definitions {
            openers[.definition(definition)] = { [unowned self] onEvent in
                open[definition] = onEvent
                openings += 1
                return { [unowned self] onEnd in
                    open[definition] = nil
                    onEnd()
                }
            }
        }
        return openers
    }

    func send(_ event: CameraSourceEvent, to definition: Definition) { open[definition]?(event) }
}
