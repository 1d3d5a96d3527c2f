# Completion of glovebox for fish; see the README of this folder's source.

function __glovebox_complete
    set -l word (commandline -ct)
    set -l words (commandline -opc)
    set -l before (string match -r -- '^--[^=]*=' "$word")
    for line in (command glovebox complete $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case \tfiles
                for path in (__fish_complete_path (string replace -- "$before" '' "$word"))
                    echo -- "$before$path"
                end
            case \tfolders
                for path in (__fish_complete_directories (string replace -- "$before" '' "$word"))
                    echo -- "$before$path"
                end
            case '*'
                echo $line
        end
    end
end

complete -c glovebox -f -a '(__glovebox_complete)'
