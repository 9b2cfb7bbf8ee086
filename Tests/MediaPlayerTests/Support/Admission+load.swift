@testable import MediaPlayer

extension SinkRoom.Admission {
    /// What was admitted takes so much.
    var load: SinkLoad? {
        if case .admitted(let load) = self { load } else { nil }
    }
}
