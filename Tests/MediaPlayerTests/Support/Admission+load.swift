@testable import MediaPlayer

extension SinkRoom.Admission {
    /// The load of an admitted frame.
    var load: SinkLoad? {
        if case .admitted(let load) = self { load } else { nil }
    }
}
