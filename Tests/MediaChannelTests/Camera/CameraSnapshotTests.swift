import IoTCore
import Testing
import ThingModel

@testable import MediaChannel

@Suite struct CameraSnapshotTests {
    @Test("The model contains the reason why a source failed, without the source's address or path")
    func failure() {
        let error = IoTError(.sourceUnreachable, "opening the source /home/ann/door.mp4 failed")
        let failed = CameraSnapshot.SourceState.failed(error).failureValue
        #expect(failed == ["code": 25010, "reason": "the camera's source cannot be reached"])
        for state: CameraSnapshot.SourceState in [.connecting, .ready] {
            #expect(state.failureValue == ["code": 0, "reason": ""])
        }
    }

    @Test("The schema has room for any error of a source")
    func room() throws {
        let schema = try CameraSchema.make(maximumViewers: 1)
        let property = try #require(schema[.readonly, CameraSchema.Name.sourceFailure])
        for entry in ErrorCatalogue.entries {
            let value = CameraSnapshot.SourceState.failed(IoTError(entry.code)).failureValue
            #expect(throws: Never.self) { try property.value.validate(value, at: entry.name) }
        }
    }
}
