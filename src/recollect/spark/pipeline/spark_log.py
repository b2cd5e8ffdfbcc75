"""Keep Spark's log in a file, so that a failed query is one line on the screen."""

from collections.abc import Mapping
from pathlib import Path

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_PROPERTIES = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


def messages_in(folder: str) -> Path:
    """Return the file for what Spark writes beside its log, such as the greetings of workers."""
    return Path(folder) / "spark.err"


def logging_to(folder: str, config: Mapping[str, str]) -> dict[str, str]:
    """Return Spark settings with which the driver writes ``spark.log`` into a folder.

    Parameters
    ----------
    folder
        It must exist.
    config
        The settings of the user, which are kept.
    """
    properties = Path(folder).absolute() / "log4j2.properties"
    text = _PROPERTIES.format(log=properties.with_name("spark.log"))
    properties.write_text(text, encoding="utf-8")
    option = f"-Dlog4j2.configurationFile={properties.as_uri()}"
    theirs = config.get(JAVA_OPTIONS, "")
    # Theirs come last: of two values for the same thing Java takes the last one.
    return {**config, JAVA_OPTIONS: f"{option} {theirs}".strip()}
