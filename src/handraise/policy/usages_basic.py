"""The options of basic system programs that are known to be safe. A table, read by `options`."""

_FIND = """
    -H -L -P -maxdepth= -mindepth= -depth -d -xdev -mount -follow -daystart -noleaf -warn -nowarn -regextype=
    -name= -iname= -path= -ipath= -wholename= -iwholename= -lname= -ilname= -regex= -iregex= -type= -xtype= -size=
    -empty -newer= -anewer= -cnewer= -newermt= -mtime= -mmin= -atime= -amin= -ctime= -cmin= -perm= -user= -group=
    -uid= -gid= -nouser -nogroup -links= -inum= -samefile= -readable -writable -executable -true -false -print
    -print0 -printf= -ls -prune -quit -not -and -or -a -o @any
"""
_FD = """
    -H --hidden -I --no-ignore -u --unrestricted -s --case-sensitive -i --ignore-case -g --glob -F --fixed-strings
    -a --absolute-path -L --follow -p --full-path -d= --max-depth= --min-depth= --exact-depth= -t= --type= -e=
    --extension= -E= --exclude= -S= --size= --changed-within= --changed-before= -0 --print0 -l --list-details -1
    --max-results= -q --quiet --color= -c= @any
"""
_RG = """
    -i -s -S -w -x -v -n -N -l -c -o -F -P -U -L -u -uu -uuu -a -q -H -I -0 -p -e= -g= --glob= --iglob= -t= --type= -T=
    --type-not= -A= -B= -C= -m= --max-count= --max-depth= -d= -r= --replace= -M= -j= --color= --files --hidden -.
    --no-ignore --ignore-case --case-sensitive --smart-case --word-regexp --line-regexp --invert-match --line-number
    --no-line-number --files-with-matches --files-without-match --count --count-matches --only-matching
    --fixed-strings --pcre2 --multiline --follow --json --heading --no-heading --with-filename --no-filename --column
    --stats --sort= --vimgrep --trim --type-list --no-messages --text @any
"""
_SORT = """
    -b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k= -t= --key= --field-separator= --numeric-sort --reverse
    --unique --ignore-case --version-sort --human-numeric-sort --general-numeric-sort --stable --zero-terminated
    --check --dictionary-order --month-sort --ignore-leading-blanks @any
"""
_TREE = """
    -a -d -l -f -x -L= -P= -I= -p -u -g -s -h -D -F -q -N -Q -i -n -C -t -r -U -J -X --prune --dirsfirst --noreport
    --gitignore --filelimit= --du --si --inodes --device --sort= --matchdirs --ignore-case @any
"""
_CURL = """
    -s -S -f -L -I -i -v -k -4 -6 -G -g -N -sS -fsS -fsSL -sSL -H= -X= -d= -m= -A= -e= --silent --show-error --fail
    --location --head --include --verbose --header= --request= --data= --data-raw= --data-urlencode= --json= --get
    --max-time= --connect-timeout= --retry= --retry-delay= --user-agent= --compressed --http1.1 --http2 @any
"""
_TAR = """
    -x -t -c -z -j -J -v -p -a -k -O -f=@here -C= --extract --list --create --gzip --bzip2 --xz --zstd --verbose
    --file=@here --directory= --strip-components= --exclude= --to-stdout --keep-old-files --no-same-owner @any
"""

BASIC: dict[str, str] = {
    **dict.fromkeys(
        (
            "ls", "pwd", "wc", "du", "df", "which", "echo", "stat", "true", "false",
        ),
        "+ **",
    ),
    **dict.fromkeys(
        (
            "cat", "head", "tail", "grep", "egrep", "fgrep", "cut", "tr", "nl", "tac", "rev", "fold", "fmt", "paste",
            "join", "comm", "expand", "unexpand", "column", "seq", "sleep", "basename", "dirname", "realpath",
            "readlink", "id", "whoami", "groups", "uname", "arch", "nproc", "uptime", "free", "ps", "pgrep", "lscpu",
            "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "cmp", "diff",
            "jq", "od", "hexdump", "type", "whence", "where", ":", "cal", "tty", "factor", "expr",
            "strings", "size", "readelf", "lsb_release", "getconf", "locale", "printenv", "zipinfo",
        ),
        "= **",
    ),
    "command -v": "+ **",
    "command -V": "+ **",
    "tree": f"+ {_TREE}",
    "find": f"= {_FIND}",
    "fd": f"= {_FD}",
    "fdfind": f"= {_FD}",
    "rg": f"+ {_RG}",
    "sort": f"= {_SORT}",
    "uniq": "= -c -d -D -u -i -z -f= -s= -w= --count --repeated --unique --ignore-case @any @nothing",
    "shuf": "= -n= -r -z -e -i= --head-count= --repeat --echo --input-range= @any",
    "date": "= -u --utc -I[=] -R -d= --date= --iso-8601[=] --rfc-3339= -r= --reference= @format",
    "file": "= -b -i -L -h -k -N -0 --brief --mime --mime-type --mime-encoding --dereference @any",
    "base64": "= -d -D -w= --decode --wrap= @any",
    "xxd": "= -l= -s= -c= -g= -b -u -p -e -i @any @nothing",
    "curl": _CURL,
    "tar": f"= {_TAR}",
    "unzip": "= -l -t -v -p -q -o -n -j -d= @any",
    "zcat": "= @any",
    "gunzip": "= -c -k -t -l -v -q @any",
    "gzip": "= -c -d -k -t -l -v -q -1 -9 @any",
    "cd": "= @inside",
    "pushd": "= @inside",
    "popd": "=",
    "hostname": "= -f -s -i -I -d",
    "dmesg": "= -T -H -k -x",
    "lsof": "= -i[=] -n -P -p= -t -u= -c= -a @any",
    "ss": "= -t -l -n -p -a -u -x -4 -6 -s -e -i -o -m -H",
    "netstat": "= -t -l -n -p -a -u -r -s -i",
    "dig": "= -x= -t= -4 -6 @any",
    "nslookup": "= @name",
    "host": "= -t= -a -v @name",
    "ping": "= -c= -i= -W= -w= -n -q -4 -6 -s= @name",
    "iconv": "= -f= -t= -l -c -s --from-code= --to-code= --list @any",
    "bat": "= -n -p -l= --language= --plain --number --style= --line-range= -r= --color= --paging=never @any",
    "yq": "= -r -P -o= -p= -e -n -C -M -N -j -y --raw-output --prettyPrint --output-format= --input-format= @any",
    "openssl version": "= -a",
}  # fmt: skip
